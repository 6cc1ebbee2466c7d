import type { Family } from './family';
import type { Batch } from './batches';
import { NOTHING_DONE, withDone } from './done-lines';
import type { ErrorsFile } from './errors-file';
import { removeState, writeState } from '../state-file';
import { NOTHING_COUNTED, type SendState } from './send-state';

/** What the service made of the events of a batch. */
export interface LineOutcome {
  readonly accepted: number;
  readonly duplicate: number;
  /** Lines of the errors file. */
  readonly refused: readonly string[];
}

/** So much work may have to be sent again after a kill; sent again, it answers `duplicate`. */
const SAVE_EVERY_MS = 250;

/** Counts what is done, notes what failed, and saves both so that an interrupted run can go on. */
export class SendLedger {
  private readonly began = performance.now();
  private savedAt = Number.NEGATIVE_INFINITY;
  /** One after the other: a state never counts lines that the errors file does not have. */
  private queue: Promise<void> = Promise.resolve();

  /** `path` undefined: nothing is saved. */
  constructor(
    private state: SendState,
    private readonly errors: ErrorsFile,
    private readonly path: string | undefined,
  ) {}

  get current(): SendState {
    const seconds = this.state.seconds + (performance.now() - this.began) / 1_000;
    return { ...this.state, errorsWritten: this.errors.written, seconds };
  }

  setFamily(family: Family): void {
    this.state = { ...this.state, family };
  }

  countRepeat(): void {
    this.state = { ...this.state, repeatedRequests: this.state.repeatedRequests + 1 };
  }

  /** A batch is done. */
  settle(batch: Batch, outcome: LineOutcome): Promise<void> {
    return this.inTurn(async () => {
      const failed = [...batch.faults, ...outcome.refused];
      await this.errors.append(failed);
      const { counts, done } = this.state;
      this.state = {
        ...this.state,
        done: withDone(done, batch),
        isAnswered: this.state.isAnswered || batch.items.length > 0,
        counts: {
          accepted: counts.accepted + outcome.accepted,
          duplicate: counts.duplicate + outcome.duplicate,
          errors: counts.errors + failed.length,
        },
      };
      if (performance.now() - this.savedAt >= SAVE_EVERY_MS) await this.write();
    });
  }

  save(): Promise<void> {
    return this.inTurn(() => this.write());
  }

  /** Leaves nothing behind of a run that no service has answered: it would block the right command. */
  discard(): Promise<void> {
    return this.inTurn(async () => {
      this.state = { ...this.state, done: NOTHING_DONE, counts: NOTHING_COUNTED };
      await this.errors.discard();
      if (this.path !== undefined) await removeState(this.path);
    });
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.queue.then(work);
    // What failed is not counted, and the rest can still be saved.
    this.queue = done.catch(() => undefined);
    return done;
  }

  private async write(): Promise<void> {
    await this.errors.sync();
    if (this.path !== undefined) await writeState(this.path, this.current);
    this.savedAt = performance.now();
  }
}
