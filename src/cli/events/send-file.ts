import type { Readable } from 'node:stream';
import type { FailedAttempt } from '../../../clients/typescript/src/client';
import { attemptFailure, ClientFailure, isForeignAnswer, RunningService } from '../running-service';
import { batchesOf, type Batch } from './batches';
import type { ErrorsFile } from './errors-file';
import { familyOf, type Family } from './family';
import { openInput, type Input } from './input';
import type { SendLedger } from './ledger';
import { openLedger, statePathOf } from './open-ledger';
import { sendBatch } from './send-batch';
import type { SendOptions } from './send-options';
import type { Standing, StartSendProgress } from './send-progress';
import { claimRun } from '../run-claim';
import { refuseSpecialFile, removeState } from '../state-file';
import type { Stopping } from '../stopping';
import { summaryOf, type Summary } from './summary';

export interface SendSurroundings {
  readonly standardInput: Readable;
  readonly progress: StartSendProgress;
  readonly stopping: Stopping;
}

/** The summary of a run, and the reason why it is not complete. */
export interface Sent {
  readonly summary: Summary;
  readonly failure: ClientFailure | undefined;
}

const ADVICE = {
  credential: 'The key (CDS_API_KEY or --key-file) must be one that may send these events.',
  unreachable: 'Nothing is lost: the same command goes on when it is back.',
};

/**
 * Sends a file of events, or goes on with one: every line is sent, and counted once, however many runs it takes. Throws
 * `ClientFailure` (exit code 2) before anything is sent when called the wrong way.
 */
export async function sendFile(options: SendOptions, surroundings: SendSurroundings): Promise<Sent> {
  const input = await openInput(options.path, surroundings.standardInput);
  const statePath = statePathOf(input, options);
  if (statePath !== undefined) await refuseSpecialFile(statePath);
  const does = `is sending this file; its state is ${statePath}`;
  const claim = statePath === undefined ? undefined : await claimRun(statePath, does);
  try {
    return await sendInput(input, statePath, options, surroundings);
  } finally {
    await claim?.release();
  }
}

async function sendInput(
  input: Input,
  statePath: string | undefined,
  options: SendOptions,
  surroundings: SendSurroundings,
): Promise<Sent> {
  const { ledger, errors } = await openLedger(input, statePath, options);
  const run = new SendRun(input, ledger, options, surroundings.stopping);
  const shown = surroundings.progress(input.file?.fingerprint.bytes, run.standing);
  const runFailure = await errorOf(() => run.run());
  shown.stop();
  const isKept = runFailure === undefined || ledger.current.isAnswered;
  const endFailure = await errorOf(() => (isKept ? keep(ledger, errors) : ledger.discard()));
  const isComplete = runFailure === undefined && endFailure === undefined;
  const removalFailure =
    isComplete && statePath !== undefined ? await errorOf(() => removeState(statePath)) : undefined;
  const failure = runFailure ?? endFailure ?? removalFailure;
  if (failure !== undefined && !(failure instanceof ClientFailure)) throw failure;
  const { path, dryRun } = options;
  return { summary: summaryOf(ledger.current, { path, dryRun, complete: runFailure === undefined }), failure };
}

async function keep(ledger: SendLedger, errors: ErrorsFile): Promise<void> {
  try {
    await ledger.save();
  } finally {
    await errors.close();
  }
}

/** The error of some work: what comes after it is done all the same. */
async function errorOf(work: () => Promise<void>): Promise<Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

class SendRun {
  private bytesRead = 0;
  private trouble: string | undefined;
  private readonly service: RunningService;
  private failure: Error | undefined;
  private readFailure: Error | undefined;
  private readonly failed = new AbortController();
  private readonly waitSignal: AbortSignal;

  constructor(
    private readonly input: Input,
    private readonly ledger: SendLedger,
    private readonly options: SendOptions,
    private readonly stopping: Stopping,
  ) {
    this.service = new RunningService(options.url, options.key, ADVICE, {
      totalMsMax: Number.POSITIVE_INFINITY,
      shouldRetry: (failed) => this.shouldRetry(failed),
    });
    this.waitSignal = AbortSignal.any([stopping.soon, this.failed.signal]);
  }

  /** How far it has come. */
  readonly standing = (): Standing => {
    const { accepted, duplicate, errors } = this.ledger.current.counts;
    const { bytesRead, trouble } = this;
    return { bytesRead, trouble, lines: accepted + duplicate + errors, errors };
  };

  /** Until all is sent; throws `ClientFailure` when it was interrupted, or cannot go on. */
  async run(): Promise<void> {
    const { done } = this.ledger.current;
    const chunks = this.input.read(done.position.bytes, (count) => (this.bytesRead = count));
    const batches = batchesOf(chunks, done, this.options.batchSize);
    this.waitSignal.addEventListener('abort', () => this.input.stop());
    // The workers share one generator: it reads on only when one of them is free, so that memory does not grow.
    const workers = Array.from({ length: this.options.concurrency }, () => this.work(batches));
    await Promise.all(workers);
    if (this.stopping.soon.aborted) throw this.interruption();
    const failure = this.failure ?? this.readFailure;
    if (failure !== undefined) throw failure;
  }

  private async work(batches: AsyncGenerator<Batch, void, void>): Promise<void> {
    try {
      for (;;) {
        const batch = await this.next(batches);
        // What was read up to a stop is not sent any more.
        if (batch === undefined || this.waitSignal.aborted) return;
        await this.send(batch);
      }
    } catch (error) {
      // Errors that follow from ending the other workers are not reported.
      if (!this.waitSignal.aborted) this.failure = error instanceof Error ? error : new Error(String(error));
      this.failed.abort();
    }
  }

  /** Undefined: there is none any more. What was read before a failure is still sent, so other workers go on. */
  private async next(batches: AsyncGenerator<Batch, void, void>): Promise<Batch | undefined> {
    try {
      const next = await batches.next();
      return next.done === true ? undefined : next.value;
    } catch (error) {
      this.readFailure = error instanceof Error ? error : new Error(String(error));
      return undefined;
    }
  }

  private async send(batch: Batch): Promise<void> {
    const outcome = await sendBatch(this.service, batch.items, {
      family: this.familyOf(batch),
      dryRun: this.options.dryRun,
      mayRetry: (reason, failingMs, waitMs) => this.mayRetry(reason, failingMs + waitMs),
      signal: this.stopping.now,
      retrySignal: this.waitSignal,
    });
    this.trouble = undefined;
    await this.ledger.settle(batch, outcome);
  }

  /** Determined once, from the first event. */
  private familyOf({ items: [first] }: Batch): Family {
    const known = this.options.family ?? this.ledger.current.family;
    if (known !== undefined || first === undefined) return known ?? 'external';
    const family = familyOf(first.text);
    if (family !== undefined) {
      this.ledger.setFamily(family);
      return family;
    }
    throw new ClientFailure(
      `Line ${first.line} does not show its family (external: external_event_id, type; CDP: externalEventId, eventType). Name it: --family external or --family cdp.`,
      2,
    );
  }

  private shouldRetry({ error, failingMs, waitMs }: FailedAttempt): boolean {
    return !isForeignAnswer(error) && this.mayRetry(attemptFailure(error), failingMs + waitMs);
  }

  private mayRetry(reason: string, failingMs: number): boolean {
    this.trouble = reason;
    const mayRetry = failingMs <= this.options.retryForMs;
    if (mayRetry) this.ledger.countRepeat();
    return mayRetry;
  }

  private interruption(): ClientFailure {
    const { done } = this.ledger.current;
    const again =
      this.input.file === undefined || this.options.dryRun
        ? 'Send all of it again: what is stored answers `duplicate`.'
        : 'Nothing is lost: the same command goes on from there.';
    return new ClientFailure(`Interrupted; all lines up to ${done.position.lines} are done. ${again}`, 130);
  }
}
