import type { INestApplicationContext } from '@nestjs/common';
import type { Statement } from '../../src/platform/postgres/statement';
import type { EffectPlan, EffectResult, EventEffect, EventToProcess } from '../../src/processing/domain/event-effects';
import { EventEffects } from '../../src/processing/effects';
import { EventWorker } from '../../src/processing/event-worker';
import type { Transaction } from '../../src/platform/postgres/pipelined-connection';
import { isOnCluster } from './citus';
import { rowsOf } from './database';
import { until } from './until';

/** An effect that tests can count: a row in the worker's transaction. What the event's properties say goes wrong. */
const RECORD: Statement = {
  name: 'test_record_effects',
  text: `INSERT INTO test_effects (tenant_id, event_id, customer_id, external_id)
    SELECT u.tenant_id, u.event_id, u.customer_id, u.external_id
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) WITH ORDINALITY
      AS u (tenant_id, event_id, customer_id, external_id, n) ORDER BY u.n`,
};
const BREAK: Statement = { name: 'test_break', text: 'SELECT 1 / ($1::int - 1)' };

export class RecordingEffect implements EventEffect {
  /** Ids of events that fail for now. */
  readonly failing = new Set<string>();
  readonly attempts = new Map<string, number>();
  /** Ids of events that take too long for now. */
  readonly slow = new Set<string>();
  /** How many events a call is for; the others are left for another one. */
  atOnce = Number.POSITIVE_INFINITY;
  /** Called with the events of each call, before anything is done. */
  onApply: (events: readonly EventToProcess[]) => Promise<void> = () => Promise.resolve();

  constructor(readonly concerned: Statement) {}

  /** Up to the first event that is slow for now, and at most so many. */
  plan(transaction: Transaction, all: readonly EventToProcess[]): Promise<EffectPlan> {
    const slow = all.findIndex(({ event }) => this.slow.has(event.externalEventId));
    const isSlow = slow !== -1 && slow <= this.atOnce;
    const retry = { code: 'timed_out', message: 'It takes too long.', details: [] } as const;
    return Promise.resolve({
      count: isSlow ? slow : Math.min(this.atOnce, all.length),
      ...(isSlow ? { retry } : {}),
      apply: (count) => this.record(transaction, all.slice(0, count)),
    });
  }

  private async record(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    for (const { event } of events) this.attempts.set(event.eventId, (this.attempts.get(event.eventId) ?? 0) + 1);
    await this.onApply(events);
    const applied = events.filter((each) => !isWaiting(each));
    await transaction.send(RECORD, [
      applied.map(({ tenantId }) => tenantId),
      applied.map(({ event }) => event.eventId),
      applied.map(({ event }) => event.profileId),
      applied.map(({ externalId }) => externalId),
    ]);
    const breaks = new Set(events.map(({ event }) => event.properties['breaks']));
    if (breaks.has('sql')) await transaction.send(BREAK, [1]);
    if (breaks.has('last') || breaks.has('last and throw')) transaction.sendLast(BREAK, [1]);
    const isFailing = events.some(({ event }) => this.failing.has(event.externalEventId));
    if (breaks.has('throw') || breaks.has('last and throw') || isFailing) {
      throw new Error('The effect has a mistake, and secret-value-in-a-message');
    }
    return events.map((each) =>
      each.event.properties['breaks'] === 'never-fits'
        ? {
            reactions: [{ campaignId: 'spring', name: 'thank', outcome: 'failed', reason: 'type' }],
            failure: { code: 'validation_failed', message: 'A value does not fit.', details: [] },
          }
        : {
            reactions: [
              {
                campaignId: 'spring',
                name: 'thank',
                outcome: isWaiting(each) ? 'waiting_for_customer' : 'applied',
              },
            ],
          },
    );
  }
}

function isWaiting({ event, externalId }: EventToProcess): boolean {
  return event.properties['breaks'] === 'waits' && externalId === null;
}

export async function prepareEffects(url: string): Promise<void> {
  // Shards have no sequences.
  const numbered = isOnCluster(url) ? '' : 'GENERATED ALWAYS AS IDENTITY';
  await rowsOf(
    url,
    `CREATE TABLE IF NOT EXISTS test_effects (
       n bigint ${numbered}, tenant_id uuid, event_id uuid, customer_id uuid, external_id text)`,
  );
  if (isOnCluster(url))
    await rowsOf(url, `SELECT create_distributed_table('test_effects', 'tenant_id', colocate_with => 'events')`);
}

const EVERYTHING: Statement = {
  name: 'test_everything',
  text: `SELECT u.position FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position)`,
};

/** Those that stand in the table `test_concerned`, which the test makes. */
export const CONCERNED: Statement = {
  name: 'test_concerned',
  text: `SELECT u.position FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position)
    JOIN test_concerned c ON c.tenant_id = u.tenant_id AND c.event_type = u.event_type`,
};

/** Registers an effect of a node's own, for all events or those of some types; the node does not work yet. */
export function recordEffects(node: INestApplicationContext, concerned = EVERYTHING): RecordingEffect {
  const effect = new RecordingEffect(concerned);
  node.get(EventEffects).register(effect);
  return effect;
}

export function startWorker(node: INestApplicationContext): void {
  node.get(EventWorker).start();
}

/** Each event that is queued, by itself or in a bundle: `tenant_id`, `event_id`. */
export const QUEUED_EVENTS = `(
  SELECT tenant_id, event_id FROM event_queue
  UNION ALL
  SELECT e.tenant_id, e.event_id FROM queued_bundles b
  JOIN events e ON e.tenant_id = b.tenant_id AND e.queue_bundle_id = b.id
)`;

/** Each event that is or was queued, once if nothing went wrong: `tenant_id`, `event_id`. */
export const EVER_QUEUED_EVENTS = `(
  SELECT tenant_id, event_id FROM ${QUEUED_EVENTS} queued
  UNION ALL
  SELECT tenant_id, event_id FROM event_processing
  UNION ALL
  SELECT e.tenant_id, e.event_id FROM processed_bundles b
  JOIN events e ON e.tenant_id = b.tenant_id AND e.queue_bundle_id = b.id
)`;

/** Nothing of a workspace is queued or parked any more. */
export async function untilDrained(url: string, tenantId: string, seconds?: number): Promise<void> {
  await until(async () => {
    const [row] = await rowsOf<{ left: number }>(
      url,
      `SELECT (SELECT count(*)::int FROM event_queue WHERE tenant_id = $1)
         + (SELECT count(*)::int FROM queued_bundles WHERE tenant_id = $1)
         + (SELECT count(*)::int FROM parked_events WHERE tenant_id = $1) AS left`,
      [tenantId],
    );
    return row?.left === 0;
  }, seconds);
}

/** Has a node work until nothing is queued; nothing is processed afterwards. */
export async function workOff(node: INestApplicationContext, url: string, tenantId: string): Promise<void> {
  startWorker(node);
  await untilDrained(url, tenantId);
  await node.get(EventWorker).stop();
}

/** The external ids of the events whose effects were applied, in the order in which they were; repetitions included. */
export async function appliedTo(url: string, tenantId: string): Promise<string[]> {
  const rows = await rowsOf<{ external_event_id: string }>(
    url,
    `SELECT e.external_event_id FROM test_effects t JOIN events e USING (tenant_id, event_id)
     WHERE t.tenant_id = $1 ORDER BY t.n`,
    [tenantId],
  );
  return rows.map((row) => row.external_event_id);
}
