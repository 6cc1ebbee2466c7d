import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { RefusalsOfStoredEvents } from '../../src/ingest/refusals-of-stored-events';
import type { JobPayload } from '../../src/platform/jobs/jobs';
import { aCdpEvent } from './builders';
import type { Client } from './client';
import { rowsOf } from './database';

/** Sends CDP events of an unregistered type, in batches; answers them. */
export async function sendTooEarly(
  client: Client,
  count: number,
  fields: Record<string, unknown> = {},
): Promise<Record<string, unknown>[]> {
  const events = Array.from({ length: count }, () => aCdpEvent(fields));
  for (let start = 0; start < count; start += 500) {
    const { status, body } = await client.post('/v1/cdp/events/batch', { items: events.slice(start, start + 500) });
    if (status !== 200) throw new Error(`Unforeseen answer ${status}`);
    if (body.results.some((result: { status: string }) => result.status !== 'error')) throw new Error('One was taken');
  }
  return events;
}

/** Begins a bulk replay; answers its id. */
export async function beginReplay(client: Client, filter: Record<string, unknown>): Promise<string> {
  const { status, body } = await client.post('/v1/review-entries:replay', { filter });
  if (status !== 200) throw new Error(`Unforeseen answer ${status}: ${JSON.stringify(body)}`);
  return body.jobId as string;
}

/** The replay once `reached` is true of it. `client` may be another one each time, as services come and go. */
export async function replayOnce(
  client: () => Client,
  jobId: string,
  reached: (replay: any) => boolean = ({ state }) => state === 'done' || state === 'failed',
  seconds = 30,
): Promise<any> {
  for (const until = Date.now() + seconds * 1_000; Date.now() < until;) {
    const answer = await client()
      .get(`/v1/review-replays/${jobId}`)
      .catch(() => undefined);
    if (answer?.status === 200 && reached(answer.body)) return answer.body;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The replay does not get there');
}

/** Leaves an entry open beside the stored event that has closed it, as two nodes that meet at one event id can. */
export async function reopen(databaseUrl: string, { id }: { readonly id: string }): Promise<void> {
  await rowsOf(databaseUrl, `UPDATE review_entries SET status = 'open', resolution = NULL WHERE id = $1`, [id]);
}

/** Closes the open refusals of events that are stored, in all workspaces, or from a position on. */
export async function closeRefusals(node: INestApplicationContext, from: JobPayload = {}): Promise<void> {
  const steps = node.get(RefusalsOfStoredEvents).close(from);
  while ((await steps.next()).done !== true);
}

/** Entries about requests with payloads of a megabyte, two of which are more than an erasure searches in its last transaction. */
export function largeEntries(url: string, tenantId: string, ids: readonly string[] = [randomUUID(), randomUUID()]) {
  return rowsOf(
    url,
    `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, payload, payload_form,
       occurrences, first_seen_at, last_seen_at, status)
     SELECT $1, id, 'error', 'request', 'malformed_json', 'm', '[]', 'external', repeat('x', 1024 * 1024), 'text', 1,
       now() - interval '1 day', now() - interval '1 day', 'open'
     FROM unnest($2::uuid[]) AS e (id)`,
    [tenantId, ids],
  );
}
