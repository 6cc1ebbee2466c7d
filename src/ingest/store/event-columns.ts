import type { ListedEvent, LoggedEvent, ResolvedEvent } from '../domain/event';
import type { EventRow } from './entities/event.entity';

interface EventColumn {
  readonly name: string;
  readonly type: 'uuid' | 'text' | 'int' | 'timestamptz' | 'jsonb' | 'bytea';
  /** What is inserted; absent for the column that has one value for all events of a batch. */
  readonly value?: (resolved: ResolvedEvent) => unknown;
  /** The database's time stands for null: the event is received now. */
  readonly isNowWhenNull?: boolean;
}

/**
 * The columns of `events`, in their order. They are inserted by `event.sql.ts`, and read by `log/event-page.sql.ts` and
 * `queue/event-queue.sql.ts`. A column of the entity that is missing here does not compile.
 */
export const EVENT_COLUMNS: Readonly<Record<keyof EventRow, EventColumn>> = {
  tenantId: { name: 'tenant_id', type: 'uuid', value: ({ event }) => event.tenantId },
  eventId: { name: 'event_id', type: 'uuid', value: ({ event }) => event.eventId },
  family: { name: 'family', type: 'text', value: ({ event }) => event.family },
  source: { name: 'source', type: 'text', value: ({ event }) => event.source },
  externalEventId: { name: 'external_event_id', type: 'text', value: ({ event }) => event.externalEventId },
  eventType: { name: 'event_type', type: 'text', value: ({ event }) => event.eventType },
  eventTypeVersion: { name: 'event_type_version', type: 'int', value: ({ event }) => event.eventTypeVersion },
  occurredAt: {
    name: 'occurred_at',
    type: 'timestamptz',
    value: ({ event }) => event.occurredAt ?? event.submission.replay?.receivedAt ?? null,
    isNowWhenNull: true,
  },
  receivedAt: {
    name: 'received_at',
    type: 'timestamptz',
    // A replayed event keeps its first time of receipt.
    value: ({ event }) => event.submission.replay?.receivedAt ?? null,
    isNowWhenNull: true,
  },
  profileId: { name: 'profile_id', type: 'uuid', value: ({ profileId }) => profileId },
  identity: { name: 'identity', type: 'jsonb', value: ({ event }) => event.identity },
  properties: { name: 'properties', type: 'jsonb', value: ({ event }) => event.properties },
  contentHash: { name: 'content_hash', type: 'bytea', value: ({ event }) => Buffer.from(event.contentHash, 'base64') },
  queueBundleId: { name: 'queue_bundle_id', type: 'uuid', value: ({ queueBundleId }) => queueBundleId },
  batchId: { name: 'batch_id', type: 'uuid' },
};

/** Which columns a read of a `LoggedEvent` has; a property that is missing here does not compile. */
const OF_LOGGED = {
  eventId: true,
  family: true,
  source: true,
  externalEventId: true,
  eventType: true,
  eventTypeVersion: true,
  occurredAt: true,
  receivedAt: true,
  profileId: true,
  identity: true,
  properties: true,
} satisfies Record<keyof LoggedEvent, true>;

/** The same of a `ListedEvent`. */
const OF_LISTED = { ...OF_LOGGED, queueBundleId: true } satisfies Record<keyof ListedEvent, true>;

export const LISTED = Object.keys(OF_LISTED) as (keyof ListedEvent)[];
const LOGGED = Object.keys(OF_LOGGED) as (keyof LoggedEvent)[];

/** The columns of a `LoggedEvent`, as SELECT lists them, under the names of its properties. `table`: an alias of `events`. */
export function loggedColumns(table: string): string {
  return LOGGED.map((property) => `${table}.${EVENT_COLUMNS[property].name} AS "${property}"`).join(', ');
}

const INSERTED = Object.values(EVENT_COLUMNS);

/** The names of the columns, as INSERT lists them. */
export const INSERTED_NAMES = INSERTED.map(({ name }) => name).join(', ');

/**
 * The values of the columns, as SELECT lists them: one array parameter for each, and a scalar for the batch. Arrays in the
 * SELECT list are read value by value; in FROM, PostgreSQL would first write each of them into a store of its own.
 * `now`: an expression for the time of receipt. `isOneWorkspace`: the workspace is a scalar too.
 */
export function insertedValues(now: string, isOneWorkspace = false): string {
  return INSERTED.map(({ name, type, value, isNowWhenNull = false }, index) => {
    const parameter = `$${index + 1}::${type}`;
    if (value === undefined || (isOneWorkspace && name === 'tenant_id')) return parameter;
    return isNowWhenNull ? `unnest(array_replace(${parameter}[], NULL, ${now}))` : `unnest(${parameter}[])`;
  }).join(', ');
}

/** The parameters of `insertedValues`, sorted by id, so that two nodes that store the same never wait for each other in a circle. */
export function insertParameters(unsorted: readonly ResolvedEvent[], batchId: string): unknown[] {
  const events = unsorted.toSorted((a, b) => (a.event.eventId < b.event.eventId ? -1 : 1));
  return INSERTED.map(({ value }) => (value === undefined ? batchId : events.map(value)));
}
