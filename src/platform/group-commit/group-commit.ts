import { unavailable } from '../errors/unavailable';
import { FairQueue } from '../async/fair-queue';

export interface GroupCommitOptions<Work, Answer> {
  /** Does one batch, all of it in one commit, and answers in the order of the work. Never called twice at a time. */
  readonly run: (batch: readonly Work[]) => Promise<readonly Answer[]>;
  /** Most single pieces of work in one batch. */
  readonly singlesMax: number;
  /** Bulk work fills a batch of single pieces up to this number, so that these wait for milliseconds. */
  readonly fillTo: number;
  /** Most bulk work in a batch without single pieces, `fillTo` when absent: one that comes meanwhile waits for that commit. */
  readonly bulkMax?: number;
  /** Most bytes in one batch, which is put together in one turn of the event loop; a larger piece has one to itself. */
  readonly batchBytesMax?: number;
  /** Most bytes that may wait or be under way; beyond it `submit` refuses with `unavailable`. */
  readonly bytesMax: number;
  /** Follows what the lane does, for metrics and traces. */
  readonly watch?: GroupCommitObserver | undefined;
}

/** How a lane stands now. */
export interface GroupCommitState {
  /** Pieces of work that wait. */
  readonly depth: number;
  /** Of those and of what is under way. */
  readonly waitingBytes: number;
}

export interface GroupCommitObserver {
  /** Told once of the lane, to be asked how it stands at any time. */
  begin(state: GroupCommitState): void;
  /** Whatever is to be known of the piece of work that is handed in now; it comes back with its batch. */
  mark(): unknown;
  /** Runs a batch, of which each piece had this mark. */
  around<T>(marks: readonly unknown[], run: () => Promise<T>): Promise<T>;
}

/** So many in one commit are several who send one piece after the other … */
const BUSY_BATCH = 8;
/** … and who is answered comes back within milliseconds: the next commit waits for all of them, so long at most … */
const REST_MS = 4;
/** … or until so many are there that the commit is a small part of what each of them costs. */
const WORTH_A_COMMIT = 32;

interface Entry<Work, Answer> {
  readonly work: Work;
  readonly bytes: number;
  readonly mark: unknown;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** A piece of work, and roughly what it weighs in memory while it waits. */
export interface SizedWork<Work> {
  readonly work: Work;
  readonly bytes: number;
}

/**
 * Group commit: what arrives while a commit is under way joins the next one. An idle lane adds no wait, and the busier it is
 * the more work shares one commit; a busy one rests a moment between two, or the few who wait would have one to themselves.
 * Workspaces take turns (`FairQueue`); pieces that somebody waits for one by one go before those of bulk requests.
 */
export class GroupCommit<Work, Answer> implements GroupCommitState {
  private readonly singles = new FairQueue<Entry<Work, Answer>>();
  private readonly bulk = new FairQueue<Entry<Work, Answer>>();
  private bytes = 0;
  private running: Promise<void> | undefined;
  private closed = false;
  private rest: { readonly until: number; readonly end: () => void } | undefined;

  constructor(private readonly options: GroupCommitOptions<Work, Answer>) {
    options.watch?.begin(this);
  }

  get depth(): number {
    return this.singles.size + this.bulk.size;
  }

  get waitingBytes(): number {
    return this.bytes;
  }

  submit(tenantId: string, { work, bytes }: SizedWork<Work>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.admit(bytes);
      const mark = this.options.watch?.mark();
      this.enqueue(this.singles, tenantId, { work, bytes, mark, resolve, reject });
    });
  }

  /** Takes all the pieces of a bulk request or, when they do not fit, none. */
  submitBulk(tenantId: string, pieces: readonly SizedWork<Work>[]): Promise<Answer[]> {
    if (pieces.length === 0) return Promise.resolve([]);
    // One promise for all of them: one each would cost more than what is done with the piece.
    return new Promise((resolve, reject) => {
      this.admit(pieces.reduce((sum, piece) => sum + piece.bytes, 0));
      const mark = this.options.watch?.mark();
      const answers: Answer[] = [];
      let left = pieces.length;
      pieces.forEach(({ work, bytes }, index) => {
        const settle = (answer: Answer): void => {
          answers[index] = answer;
          left -= 1;
          if (left === 0) resolve(answers);
        };
        this.enqueue(this.bulk, tenantId, { work, bytes, mark, resolve: settle, reject });
      });
    });
  }

  /** Refuses new work and waits until what was taken is answered. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  private admit(bytes: number): void {
    if (this.closed || this.bytes + bytes > this.options.bytesMax) throw unavailable();
    this.bytes += bytes;
  }

  private enqueue(queue: FairQueue<Entry<Work, Answer>>, tenantId: string, entry: Entry<Work, Answer>): void {
    queue.push(tenantId, entry);
    if (this.rest !== undefined && this.depth >= this.rest.until) this.rest.end();
    this.running ??= this.drain();
  }

  private async drain(): Promise<void> {
    // One turn of the event loop, so that requests read in the same turn share the first batch.
    await new Promise(setImmediate);
    while (this.depth > 0) {
      const batch = this.nextBatch();
      await this.runBatch(batch);
      if (batch.length >= BUSY_BATCH) await this.untilBack(batch.length);
    }
    this.running = undefined;
  }

  /** Rests until as many wait as have just been answered, beside those who wait already. */
  private async untilBack(answered: number): Promise<void> {
    const until = Math.min(answered + this.depth, WORTH_A_COMMIT);
    if (this.depth >= until) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((end) => {
      this.rest = { until, end };
      // What has come meanwhile is read after the timers of a turn, and handled in the next one.
      timer = setTimeout(() => setImmediate(() => setImmediate(end)), REST_MS);
    });
    clearTimeout(timer);
    this.rest = undefined;
  }

  private nextBatch(): Entry<Work, Answer>[] {
    const { singlesMax, fillTo, bulkMax = fillTo, batchBytesMax = Infinity } = this.options;
    let bytes = 0;
    const within =
      (bytesMax: number) =>
      (entry: Entry<Work, Answer>): boolean => {
        if (bytes > 0 && bytes + entry.bytes > bytesMax) return false;
        bytes += entry.bytes;
        return true;
      };
    const batch = this.singles.take(singlesMax, within(batchBytesMax));
    const bulkWith = batch.length > 0 ? fillTo : bulkMax;
    if (bulkWith <= batch.length) return batch;
    // Of the bytes as of the number: bulk pieces do not make those wait long who wait for a single one.
    const share = bulkWith / bulkMax;
    return batch.concat(this.bulk.take(bulkWith - batch.length, within(batchBytesMax * share)));
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
      if (answers.length !== batch.length) throw new Error('A batch was not answered piece by piece');
      answers.forEach((answer, index) => batch[index]?.resolve(answer));
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    } finally {
      for (const entry of batch) this.bytes -= entry.bytes;
    }
  }
}
