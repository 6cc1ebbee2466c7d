import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { aCdpEvent, anExternalEvent } from '../../support/builders';
import type { Answer, Client } from '../../support/client';
import { mutate, type Campaign } from '../../support/runtime';
import { until } from '../../support/until';

/** What one client with a valid credential sends or asks to make the service work hard. */
export interface ExpensiveInput {
  readonly name: string;
  /** Stores what the request needs; not measured. */
  readonly prepare?: (campaign: Campaign) => Promise<void>;
  /** Ends when the work is done. Answers statuses, for the report. */
  readonly send: (campaign: Campaign) => Promise<readonly number[]>;
}

const BATCH = '/v1/external-events:batch';
const MEBIBYTE = 1024 * 1024;
/** Below the most bytes that one event's properties may have. */
const PROPERTIES_BYTES = 63 * 1024;
const PROCESSED_SECONDS = 60;

const GZIP = { headers: { 'content-encoding': 'gzip' } };

/** Sends the same body some times at once, as a client with several connections does. */
function sends(path: string, body: () => string | Uint8Array, times: number, options = {}): ExpensiveInput['send'] {
  let made: string | Uint8Array | undefined;
  return ({ workspace }) => statuses(times, () => workspace.admin.send(path, (made ??= body()), options));
}

function gets(times: number, path: (campaign: Campaign) => string): ExpensiveInput['send'] {
  return (campaign) => statuses(times, () => campaign.workspace.admin.get(path(campaign)));
}

async function statuses(times: number, send: () => Promise<Answer>): Promise<readonly number[]> {
  return (await Promise.all(Array.from({ length: times }, send))).map(({ status }) => status);
}

/** Events whose properties are as large as they may be. */
async function storeLarge(client: Client, count: number, attributes: () => object): Promise<void> {
  for (let left = count; left > 0; left -= 50) {
    const items = Array.from({ length: Math.min(50, left) }, () =>
      anExternalEvent({ identity: { type: 'EXTERNAL', value: 'large' }, attributes: attributes() }),
    );
    await client.post(BATCH, { items });
  }
}

/** Looks like contact data wherever one begins to read. */
function contactLike(): object {
  const text = 'a.b+1@c.de 0049 176 1234567, '.repeat(70);
  return Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field${index}`, text]));
}

async function storeMalformed(client: Client, text: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await client.send('/v1/external-events', `${text}${index}`);
}

/** Events that are refused, each with properties that are kept for replay. */
async function storeRefused(client: Client, count: number, attributes: unknown): Promise<void> {
  for (let left = count; left > 0; left -= 50) {
    const items = Array.from({ length: Math.min(50, left) }, () => anExternalEvent({ type: '', attributes }));
    await client.post(BATCH, { items });
  }
}

async function profileIdOf(client: Client, value: string): Promise<string> {
  return (await client.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value })).body.id;
}

/** Sends an event to a reaction, and waits until the worker is through with it. */
async function react(client: Client, attributes: object): Promise<readonly number[]> {
  const { status, body } = await client.post('/v1/external-events', anExternalEvent({ type: 'react', attributes }));
  await until(async () => {
    const { body: event } = await client.get(`/v1/events/${body.event_id}`);
    return event.processing.state !== 'queued';
  }, PROCESSED_SECONDS);
  return [status];
}

function reacts(when: object, attributes: object): Pick<ExpensiveInput, 'prepare' | 'send'> {
  return {
    prepare: async (campaign) => {
      const { workspace, campaignId } = campaign;
      await campaign.define('state.user.points', 'number');
      for (let index = 0; index < 10; index += 1) {
        await workspace.admin.post(`/v1/campaigns/${campaignId}/reactions:define`, {
          ...{ name: `expensive-${index}`, eventType: 'react', when },
          ops: [{ path: 'state.user.points', op: 'inc', value: 1 }],
        });
      }
    },
    send: ({ workspace }) => react(workspace.admin, attributes),
  };
}

function deepText(depth: number): string {
  return '['.repeat(depth) + ','.repeat(1_000) + ']'.repeat(depth);
}

const LITERAL = 'x'.repeat(2_000);
const ENTRIES = Array.from({ length: 14_000 }, (_, index) => index % 10);

/** Each family of inputs that has once held the event loop, or memory, for long. */
export const EXPENSIVE_INPUTS: readonly ExpensiveInput[] = [
  {
    name: 'a condition that searches text for each entry of a list',
    ...reacts(
      { filter: [{ var: 'event.properties.list' }, { in: [`${LITERAL}y`, `${LITERAL}${LITERAL}`] }] },
      { list: ENTRIES },
    ),
  },
  {
    name: 'a condition that compares long text for each entry of a list',
    ...reacts(
      { some: [{ var: 'event.properties.list' }, { '==': [`${LITERAL}a`, { cat: [`${LITERAL}b`] }] }] },
      { list: ENTRIES },
    ),
  },
  {
    name: 'a condition that makes numbers of lists',
    ...reacts(
      { '>': [{ '+': [{ var: 'event.properties.list' }, { var: 'event.properties.list' }] }, 1] },
      { list: ENTRIES },
    ),
  },
  {
    name: 'a body of nested lists, inflated',
    send: sends(BATCH, () => gzipSync('['.repeat(2_600_000)), 8, GZIP),
  },
  {
    name: 'a body of empty lists side by side',
    send: sends(BATCH, () => gzipSync(`{"items":[${'[],'.repeat(1_700_000)}[]]}`), 4, GZIP),
  },
  {
    name: 'a body of numbers',
    send: sends(BATCH, () => gzipSync(`{"items":[${'1,'.repeat(2_500_000)}1]}`), 4, GZIP),
  },
  {
    name: 'a body with very many fields',
    send: sends(
      BATCH,
      () => JSON.stringify({ items: [Object.fromEntries(Array.from({ length: 400_000 }, (_, n) => [`k${n}`, 0]))] }),
      2,
    ),
  },
  {
    name: 'a batch of the largest honest events',
    send: sends(
      BATCH,
      () => JSON.stringify({ items: Array.from({ length: 79 }, () => anExternalEvent({ attributes: contactLike() })) }),
      2,
    ),
  },
  {
    name: 'a batch of 1,000 events with as many fields as fit',
    send: sends(
      BATCH,
      () => {
        const attributes = Object.fromEntries(Array.from({ length: 290 }, (_, index) => [`key${index}`, index]));
        return JSON.stringify({ items: Array.from({ length: 1_000 }, () => anExternalEvent({ attributes })) });
      },
      2,
    ),
  },
  {
    name: 'a batch with a fault in each of 200,000 fields',
    send: sends(
      BATCH,
      () => gzipSync(JSON.stringify({ items: Array.from({ length: 1_000 }, () => faultyItem(200)) })),
      4,
      GZIP,
    ),
  },
  {
    name: 'a mutation with as many operations as there may be',
    prepare: async (campaign) => {
      await campaign.define('state.user.text', 'string');
    },
    send: async (campaign) => {
      const ops = Array.from({ length: 100 }, () => ({ path: 'state.user.text', op: 'set', value: 'é'.repeat(1_000) }));
      return statuses(20, () => mutate(campaign.participant(), ops, { mutation_id: randomUUID() }));
    },
  },
  {
    name: 'a page of the largest events',
    prepare: ({ workspace }) => storeLarge(workspace.admin, 200, contactLike),
    send: gets(3, () => '/v1/events?limit=200'),
  },
  {
    name: 'a timeline of the largest events',
    prepare: ({ workspace }) => storeLarge(workspace.admin, 200, contactLike),
    send: async ({ workspace }) => {
      const id = await profileIdOf(workspace.admin, 'large');
      return statuses(3, () => workspace.admin.get(`/v1/cdp/profiles/${id}/events?limit=200`));
    },
  },
  {
    name: 'a page of the largest participants',
    prepare: async (campaign) => {
      for (let index = 0; index < 15; index += 1) await campaign.define(`state.user.text${index}`, 'string');
      const ops = Array.from({ length: 15 }, (_, index) => ({
        ...{ path: `state.user.text${index}`, op: 'set', value: 'é'.repeat(2_000) },
      }));
      for (let index = 0; index < 100; index += 1) await mutate(campaign.participant(), ops);
    },
    send: gets(3, ({ campaignId }) => `/v1/campaigns/${campaignId}/participants?limit=200`),
  },
  {
    name: 'a page of refused events with deep payloads',
    prepare: ({ workspace }) => storeRefused(workspace.admin, 200, { deep: 'a,'.repeat(20_000) }),
    send: gets(3, () => '/v1/review-entries?limit=200'),
  },
  {
    name: 'a page of malformed bodies that are nested deeply',
    prepare: ({ workspace }) => storeMalformed(workspace.admin, deepText(60).repeat(50), 50),
    send: gets(3, () => '/v1/review-entries?limit=200'),
  },
  {
    name: 'an export of a customer with the largest events',
    prepare: ({ workspace }) => storeLarge(workspace.admin, 200, contactLike),
    send: async ({ workspace }) => {
      const id = await profileIdOf(workspace.admin, 'large');
      return statuses(2, () => workspace.admin.post(`/v1/cdp/profiles/${id}:export`, {}));
    },
  },
  {
    name: 'the erasure of a customer beside many malformed bodies',
    prepare: async ({ workspace }) => {
      await storeLarge(workspace.admin, 50, contactLike);
      await storeMalformed(workspace.admin, `{"a":"${'large '.repeat(10_000)}`, 50);
    },
    send: async ({ workspace }) => {
      const id = await profileIdOf(workspace.admin, 'large');
      return statuses(1, () => workspace.admin.post(`/v1/cdp/profiles/${id}:erase`, {}));
    },
  },
  {
    name: 'a check of an event type against the largest events',
    prepare: async ({ workspace }) => {
      await workspace.admin.post('/v1/cdp/event-types', {
        eventType: 'large',
        properties: {},
        additionalProperties: 'allow',
      });
      for (let index = 0; index < 6; index += 1) {
        const items = Array.from({ length: 50 }, () => aCdpEvent({ eventType: 'large', properties: contactLike() }));
        await workspace.admin.post('/v1/cdp/events/batch', { items });
      }
    },
    send: ({ workspace }) =>
      statuses(2, () =>
        workspace.admin.post('/v1/cdp/event-types:check', {
          ...{ eventType: 'large', additionalProperties: 'reject' },
          properties: Object.fromEntries(
            Array.from({ length: 30 }, (_, index) => [`field${index}`, { type: 'integer' }]),
          ),
        }),
      ),
  },
  {
    name: 'a body that is not JSON, of 5 MiB',
    send: sends(BATCH, () => gzipSync(`{"items":[${'"\\u0000",'.repeat((5 * MEBIBYTE) / 10)}`), 4, GZIP),
  },
  {
    name: 'properties of one long text full of digits',
    send: ({ workspace }) =>
      statuses(10, () =>
        workspace.admin.post(
          '/v1/external-events',
          anExternalEvent({ attributes: { text: '1 '.repeat(PROPERTIES_BYTES / 2 - 20) } }),
        ),
      ),
  },
];

function faultyItem(fields: number): object {
  return anExternalEvent(Object.fromEntries(Array.from({ length: fields }, (_, index) => [`unknown${index}`, 0])));
}
