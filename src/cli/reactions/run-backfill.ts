import { setTimeout as wait } from 'node:timers/promises';
import type { FailedAttempt } from '../../../clients/typescript/src/client';
import { fieldsOf, readable } from '../foreign-data';
import { ClientFailure, isForeignAnswer, RunningService } from '../running-service';
import type { ServiceOptions } from '../service-options';
import type { Stopping } from '../stopping';
import type { BackfillStanding, StartBackfillBar } from './backfill-progress-bar';

export interface BackfillOptions extends ServiceOptions {
  readonly campaignId: string;
  /** Of the reaction. */
  readonly name: string;
  readonly range: object;
  readonly retryForMs: number;
}

/** A backfill as the service shows it. */
type ForeignBackfill = Readonly<Record<string, unknown>>;

const ADVICE = {
  credential: 'The key (CDS_API_KEY or --key-file) needs the scopes reactions:write and reactions:read.',
  unreachable: 'A backfill that was started goes on with the service; the list of backfills shows it.',
};
const POLL_MS = 500;

/** Starts a backfill and watches it to its end. Throws `ClientFailure`. */
export async function runBackfill(
  { url, key, campaignId, name, range, retryForMs }: BackfillOptions,
  { progress, stopping }: { readonly progress: StartBackfillBar; readonly stopping: Stopping },
): Promise<{ readonly result: ForeignBackfill; readonly failure?: ClientFailure }> {
  const shouldRetry = ({ error, failingMs, waitMs }: FailedAttempt): boolean =>
    !isForeignAnswer(error) && failingMs + waitMs <= retryForMs;
  const service = new RunningService(url, key, ADVICE, { totalMsMax: Number.POSITIVE_INFINITY, shouldRetry });
  const path = `/v1/campaigns/${encodeURIComponent(campaignId)}/reactions/${encodeURIComponent(name)}`;
  const signal = stopping.soon;
  let jobId: string | undefined;
  const bar = progress();
  try {
    jobId = textAt('jobId', await service.post(`${path}:backfill`, range, { signal }), service);
    for (;;) {
      const result = fieldsOf(await service.get(`${path}/backfills/${encodeURIComponent(jobId)}`, { signal }));
      textAt('state', result, service);
      bar.update(standingOf(result));
      if (result['state'] !== 'queued' && result['state'] !== 'running') return withFailure(result);
      await wait(POLL_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    if (jobId === undefined) throw new ClientFailure('Interrupted before the backfill was started.', 130);
    const words = `Interrupted; the backfill goes on. Cancel it by POST ${path}/backfills/${readable(jobId)}:cancel.`;
    throw new ClientFailure(words, 130);
  } finally {
    bar.stop();
  }
}

/** A text of an answer. Throws `ClientFailure` if it is missing: then another server has answered, such as a proxy. */
function textAt(name: string, body: unknown, service: RunningService): string {
  const text = fieldsOf(body)[name];
  if (typeof text !== 'string') throw service.foreignAnswer(200);
  return text;
}

/** The result in a few lines. */
export function backfillWords(result: ForeignBackfill): string {
  const count = (field: string): string => String(Number(result[field] ?? 0));
  const lines = [
    `${readable(String(result['state']))}: ${count('scanned')} events, ${count('matched')} matched, ` +
      `${count('applied')} applied, ${count('waiting')} waiting, ${count('skipped')} skipped, ${count('failed')} failed`,
  ];
  for (const sum of Array.isArray(result['sums']) ? result['sums'] : []) {
    const { path, events, sum: by, sets } = fieldsOf(sum);
    const words = [path, `${String(by)} in ${String(events)} events`, `set ${String(sets)} times`];
    lines.push(words.map((word) => readable(String(word))).join('  '));
  }
  return lines.join('\n');
}

function standingOf(result: ForeignBackfill): BackfillStanding {
  const count = (field: string): number => Number(result[field] ?? 0);
  const total = typeof result['total'] === 'number' ? result['total'] : null;
  return { total, scanned: count('scanned'), applied: count('applied'), failed: count('failed') };
}

function withFailure(result: ForeignBackfill): { result: ForeignBackfill; failure?: ClientFailure } {
  const { state, reason, failed } = result;
  if (state === 'failed') {
    const why = reason === 'reaction_changed' ? 'the reaction was changed meanwhile' : 'the service gave it up';
    return { result, failure: new ClientFailure(`The backfill ended early: ${why}. Start it again.`) };
  }
  if (state !== 'done') return { result, failure: new ClientFailure('The backfill was cancelled.') };
  if (Number(failed ?? 0) === 0) return { result };
  return { result, failure: new ClientFailure('Some events failed; the review area says why.') };
}
