import { randomUUID } from 'node:crypto';
import type { Client } from './client';

type Fields = Readonly<Record<string, unknown>>;

/** A valid external event, each time a new one. */
export function anExternalEvent(fields: Fields = {}): Record<string, unknown> {
  const id = randomUUID();
  return {
    source: 'shop.orders',
    external_event_id: `order-${id}`,
    type: 'purchase',
    occurred_at: '2026-01-02T03:04:05Z',
    identity: { type: 'EXTERNAL', value: `customer-${id}` },
    attributes: { amount: 29.33 },
    ...fields,
  };
}

/** A valid event of the type that `registerPurchase` registers, each time a new one. */
export function aCdpEvent(fields: Fields = {}): Record<string, unknown> {
  const id = randomUUID();
  return {
    source: 'shop.orders',
    externalEventId: `order-${id}`,
    eventType: 'purchase',
    occurredAt: '2026-01-02T03:04:05Z',
    identity: { externalUserId: `customer-${id}` },
    properties: { amount: 29.33 },
    ...fields,
  };
}

export const PURCHASE = {
  eventType: 'purchase',
  properties: {
    amount: { type: 'number', required: true },
    quantity: { type: 'integer' },
    currency: { type: 'string', enum: ['USD', 'EUR'] },
    nickname: { type: 'string', pii: true },
  },
};

/** Takes any properties, so that the two families can be held to the same tests. */
export const ANYTHING = { eventType: 'anything', properties: {}, additionalProperties: 'allow' };

export async function registerTypes(client: Client, types: readonly object[] = [PURCHASE, ANYTHING]): Promise<void> {
  for (const type of types) expect((await client.post('/v1/cdp/event-types', type)).status).toBe(201);
}

export type IdentityKind = 'EXTERNAL' | 'EMAIL' | 'PHONE' | 'DEVICE';

/** How one of the two ingest families writes what both have. */
export interface IngestFamily {
  readonly family: 'external' | 'cdp';
  readonly path: string;
  readonly batchPath: string;
  readonly id: string;
  readonly type: string;
  readonly time: string;
  readonly properties: string;
  /** Where the faults of an identifier of this kind stand. */
  readonly identityPath: (kind: IdentityKind) => string;
  readonly anIdentity: (kind: IdentityKind, value: unknown) => Record<string, unknown>;
  /** A valid event, each time a new one. */
  readonly anEvent: (fields?: Fields) => Record<string, unknown>;
  /** The same with any properties; `registerTypes` comes first. */
  readonly anEventWith: (properties: unknown, fields?: Fields) => Record<string, unknown>;
}

export const EXTERNAL_EVENTS: IngestFamily = {
  family: 'external',
  path: '/v1/external-events',
  batchPath: '/v1/external-events:batch',
  id: 'external_event_id',
  type: 'type',
  time: 'occurred_at',
  properties: 'attributes',
  identityPath: () => 'identity.value',
  anIdentity: (kind, value) => ({ type: kind, value }),
  anEvent: anExternalEvent,
  anEventWith: (attributes, fields) => anExternalEvent({ attributes, ...fields }),
};

const CDP_IDENTITY_FIELDS = { EXTERNAL: 'externalUserId', EMAIL: 'email', PHONE: 'phone', DEVICE: 'deviceKey' };

export const CDP_EVENTS: IngestFamily = {
  family: 'cdp',
  path: '/v1/cdp/events',
  batchPath: '/v1/cdp/events/batch',
  id: 'externalEventId',
  type: 'eventType',
  time: 'occurredAt',
  properties: 'properties',
  identityPath: (kind) => `identity.${CDP_IDENTITY_FIELDS[kind]}`,
  anIdentity: (kind, value) => ({ [CDP_IDENTITY_FIELDS[kind]]: value }),
  anEvent: aCdpEvent,
  anEventWith: (properties, fields) => aCdpEvent({ eventType: ANYTHING.eventType, properties, ...fields }),
};

export const INGEST_FAMILIES = [EXTERNAL_EVENTS, CDP_EVENTS] as const;

/** JSON text of objects inside one another, `levels` deep. */
export function nestedJson(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

/** The same list in another order. */
export function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((entry) => ({ entry, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ entry }) => entry);
}
