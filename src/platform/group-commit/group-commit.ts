import { unavailable } from '../errors/unavailable';
import { BytesByWorkspace } from '../async/bytes-by-workspace';
import { FairQueue } from '../async/fair-queue';

export interface GroupCommitOptions<Work, Answer> {
  /** Processes one batch in one commit. Answers in the order of the work. Calls never overlap. */
  readonly run: (batch: readonly Work[]) => Promise<readonly Answer[]>;
  /** Most single pieces of work in one batch. */
  readonly singlesMax: number;
  /** Bulk work fills a batch with single pieces up to this number, so that single pieces wait for milliseconds only. */
  readonly fillTo: number;
  /** Most bulk work in a batch without single pieces; default `fillTo`. A single piece may have to wait for that commit. */
  readonly bulkMax?: number;
  /** Most bytes in one batch, which is assembled in one turn of the event loop. A larger piece gets its own batch. */
  readonly batchBytesMax?: number;
  /**
   * Most bytes that may wait or be in a running commit, three quarters of them of one workspace. Beyond it `submit` throws
   * `unavailable`.
   */
  readonly bytesMax: number;
  /** Each batch has pieces of workspaces for which this is the same; default: of any (docs/adr/0062, 0093). */
  readonly groupOf?: ((tenantId: string) => string) | undefined;
  /** For metrics and traces. */
  readonly watch?: GroupCommitObserver | undefined;
}

/** The load of a group commit now. */
export interface GroupCommitState {
  /** Pieces of work that wait. */
  readonly depth: number;
  /** Bytes of waiting work and of the running commit. */
  readonly waitingBytes: number;
}

export interface GroupCommitObserver {
  /** Called once by the group commit with itself; `state` can be read at any time. */
  begin(state: GroupCommitState): void;
  /** The context of a piece of work that is submitted now. `around` gets it with the batch. */
  mark(): unknown;
  /** Runs a batch; `marks` has the mark of each piece. */
  around<T>(marks: readonly unknown[], run: () => Promise<T>): Promise<T>;
}

/** What one workspace may have of the bytes: where the database is slow, there is room left for the work of others. */
const SHARE_OF_ONE_WORKSPACE = 3 / 4;
/** A batch of this size comes from several clients that each send one piece after the other. */
const BUSY_BATCH = 8;
/** After such a batch, the next commit waits at most this long for the next pieces of the clients just answered. */
const PAUSE_MS_MAX = 4;
/** It waits no longer once this many pieces are there: the commit is then a small part of the cost of each. */
const WORTH_A_COMMIT = 32;

interface Entry<Work, Answer> {
  readonly work: Work;
  readonly tenantId: string;
  readonly bytes: number;
  readonly batchBytes: number;
  readonly mark: unknown;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** What a feature needs of a group commit, or of one for each node of a distributed database. */
export interface Commits<Work, Answer> {
  submit(tenantId: string, piece: SizedWork<Work>): Promise<Answer>;
  submitBulk(tenantId: string, pieces: readonly SizedWork<Work>[]): Promise<Answer[]>;
  close(): Promise<void>;
}

/** A piece of work, and its approximate size in memory while it waits. */
export interface SizedWork<Work> {
  readonly work: Work;
  readonly bytes: number;
  /** Its size in a batch, which may read more for it; default `bytes`. */
  readonly batchBytes?: number;
}

/**
 * Group commit: work that arrives during a commit joins the next one. An idle group commit adds no wait. Under load more
 * work shares each commit; a short pause between two commits keeps batches large. Workspaces take turns (`FairQueue`), and
 * single pieces go before pieces of bulk requests.
 */
export class GroupCommit<Work, Answer> implements Commits<Work, Answer>, GroupCommitState {
  private readonly singles = new FairQueue<Entry<Work, Answer>>();
  private readonly bulk = new FairQueue<Entry<Work, Answer>>();
  private readonly held = new BytesByWorkspace();
  private running: Promise<void> | undefined;
  private closed = false;
  /** Of batches of one group every second one is of the workspace whose bulk pieces wait longest. */
  private isBulksTurn = true;
  /** Single pieces have filled the last batch, while bulk ones waited: these come first in the next one. */
  private isBulkLeftOut = false;
  private pause: { readonly untilDepth: number; readonly end: () => void } | undefined;

  constructor(private readonly options: GroupCommitOptions<Work, Answer>) {
    options.watch?.begin(this);
  }

  get depth(): number {
    return this.singles.size + this.bulk.size;
  }

  get waitingBytes(): number {
    return this.held.total;
  }

  submit(tenantId: string, { work, bytes, batchBytes = bytes }: SizedWork<Work>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.admit(tenantId, bytes);
      const mark = this.options.watch?.mark();
      this.enqueue(this.singles, { work, tenantId, bytes, batchBytes, mark, resolve, reject });
    });
  }

  /** Accepts all pieces of a bulk request, or none when they do not fit beside what waits (`unavailable`). */
  submitBulk(tenantId: string, pieces: readonly SizedWork<Work>[]): Promise<Answer[]> {
    if (pieces.length === 0) return Promise.resolve([]);
    // One promise for all pieces: one promise each would cost more than the work on the piece.
    return new Promise((resolve, reject) => {
      this.admit(
        tenantId,
        pieces.reduce((sum, piece) => sum + piece.bytes, 0),
      );
      const mark = this.options.watch?.mark();
      const answers: Answer[] = [];
      let left = pieces.length;
      pieces.forEach(({ work, bytes, batchBytes = bytes }, index) => {
        const settle = (answer: Answer): void => {
          answers[index] = answer;
          left -= 1;
          if (left === 0) resolve(answers);
        };
        this.enqueue(this.bulk, { work, tenantId, bytes, batchBytes, mark, resolve: settle, reject });
      });
    });
  }

  /** Refuses new work and waits until all accepted work is answered. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  private admit(tenantId: string, bytes: number): void {
    const { bytesMax } = this.options;
    const own = this.held.of(tenantId);
    // What is larger than a limit is taken when nothing else waits, or it would be refused for ever.
    const isTooMuch = this.held.total > 0 && this.held.total + bytes > bytesMax;
    const isOverShare = own > 0 && own + bytes > bytesMax * SHARE_OF_ONE_WORKSPACE;
    if (this.closed || isTooMuch || isOverShare) throw unavailable();
    this.held.add(tenantId, bytes);
  }

  private enqueue(queue: FairQueue<Entry<Work, Answer>>, entry: Entry<Work, Answer>): void {
    queue.push(entry.tenantId, entry);
    if (this.pause !== undefined && this.depth >= this.pause.untilDepth) this.pause.end();
    this.running ??= this.drain();
  }

  private async drain(): Promise<void> {
    // Requests that are read in the same turn of the event loop share the first batch.
    await new Promise(setImmediate);
    while (this.depth > 0) {
      const batch = this.nextBatch();
      await this.runBatch(batch);
      if (batch.length >= BUSY_BATCH) await this.awaitNextPieces(batch.length);
    }
    this.running = undefined;
  }

  /** Waits until as many new pieces are there as have just been answered. */
  private async awaitNextPieces(answered: number): Promise<void> {
    const untilDepth = Math.min(answered + this.depth, WORTH_A_COMMIT);
    if (this.depth >= untilDepth) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((end) => {
      this.pause = { untilDepth, end };
      // Node reads sockets after the timers of a turn, and handles the requests in the next turn.
      timer = setTimeout(() => setImmediate(() => setImmediate(end)), PAUSE_MS_MAX);
    });
    clearTimeout(timer);
    this.pause = undefined;
  }

  private nextBatch(): Entry<Work, Answer>[] {
    const { singlesMax, fillTo, bulkMax = fillTo, batchBytesMax = Infinity } = this.options;
    let bytes = 0;
    const within =
      (bytesMax: number) =>
      ({ batchBytes }: Entry<Work, Answer>): boolean => {
        if (bytes > 0 && bytes + batchBytes > bytesMax) return false;
        bytes += batchBytes;
        return true;
      };
    const isOfGroup = this.nextGroup();
    const take = (queue: FairQueue<Entry<Work, Answer>>, most: number, bytesMax: number): Entry<Work, Answer>[] =>
      isOfGroup === undefined ? queue.take(most, within(bytesMax)) : queue.takeOf(isOfGroup, most, within(bytesMax));
    // The same share of the bytes as of the rows, so that bulk pieces do not delay single ones.
    const takeBulk = (most: number, taken: number): Entry<Work, Answer>[] =>
      most > taken ? take(this.bulk, most - taken, (batchBytesMax * most) / bulkMax) : [];
    const isBulkFirst = isOfGroup === undefined ? this.isBulkLeftOut : this.isBulksTurn;
    const first = isBulkFirst && this.singles.size > 0 ? takeBulk(fillTo, 0) : [];
    const singles = take(this.singles, singlesMax - first.length, batchBytesMax);
    const last = first.length > 0 ? [] : takeBulk(singles.length > 0 ? fillTo : bulkMax, singles.length);
    this.isBulkLeftOut = first.length === 0 && last.length === 0 && this.bulk.size > 0;
    return [...first, ...singles, ...last];
  }

  /** Tells the workspaces of the next batch; undefined: all. */
  private nextGroup(): ((tenantId: string) => boolean) | undefined {
    const { groupOf } = this.options;
    if (groupOf === undefined) return undefined;
    this.isBulksTurn = !this.isBulksTurn;
    const [first, second] = this.isBulksTurn ? [this.bulk, this.singles] : [this.singles, this.bulk];
    const next = first.next ?? second.next;
    const group = next === undefined ? undefined : groupOf(next);
    return (tenantId) => groupOf(tenantId) === group;
  }

  private run(batch: readonly Entry<Work, Answer>[]): Promise<readonly Answer[]> {
    const { run, watch } = this.options;
    const works = batch.map((entry) => entry.work);
    if (watch === undefined) return run(works);
    return watch.around(
      batch.map((entry) => entry.mark),
      () => run(works),
    );
  }

  private async runBatch(batch: readonly Entry<Work, Answer>[]): Promise<void> {
    try {
      const answers = await this.run(batch);
      if (answers.length !== batch.length) throw new Error('run() must answer each piece of a batch');
      answers.forEach((answer, index) => batch[index]?.resolve(answer));
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    } finally {
      for (const { tenantId, bytes } of batch) this.held.add(tenantId, -bytes);
    }
  }
}
