import { randomUUID } from 'node:crypto';
import { aCdpEvent, anExternalEvent } from '../../support/builders';
import type { Client } from '../../support/client';
import { mutate } from '../../support/runtime';
import { until } from '../../support/until';
import { contactLike, type ExpensiveInput, statuses } from './expensive-input';

const PROCESSED_SECONDS = 60;
const LITERAL = 'x'.repeat(2_000);
const ENTRIES = Array.from({ length: 14_000 }, (_unused, index) => index % 10);

/** Sends an event to a reaction, and waits until the worker is through with it. */
async function react(client: Client, attributes: object): Promise<readonly number[]> {
  const { status, body } = await client.post('/v1/external-events', anExternalEvent({ type: 'react', attributes }));
  await until(async () => {
    const { body: event } = await client.get(`/v1/events/${body.event_id}`);
    return event.processing.state !== 'queued';
  }, PROCESSED_SECONDS);
  return [status];
}

function reacts(name: string, when: object): ExpensiveInput {
  return {
    name,
    prepare: async (campaign) => {
      const { workspace, campaignId } = campaign;
      await campaign.define('state.user.points', 'number');
      for (let index = 0; index < 10; index += 1) {
        const { status } = await workspace.admin.post(`/v1/campaigns/${campaignId}/reactions:define`, {
          name: `expensive-${index}`,
          eventType: 'react',
          when,
          ops: [{ path: 'state.user.points', op: 'inc', value: 1 }],
        });
        if (status !== 200) throw new Error(`a reaction was refused: ${status}`);
      }
    },
    send: ({ workspace }) => react(workspace.admin, { list: ENTRIES }),
  };
}

function checks(name: string, properties: () => object): ExpensiveInput['send'] {
  return ({ workspace }) =>
    statuses(2, () =>
      workspace.admin.post('/v1/cdp/event-types:check', {
        eventType: name,
        additionalProperties: 'reject',
        properties: properties(),
      }),
    );
}

const LIST = { var: 'event.properties.list' };

/** What is declared once and then costs work for each event, and mutations. */
export const EXPENSIVE_DEFINITIONS: readonly ExpensiveInput[] = [
  reacts('a condition that searches text for each entry of a list', {
    filter: [LIST, { in: [`${LITERAL}y`, `${LITERAL}${LITERAL}`] }],
  }),
  reacts('a condition that compares long text for each entry of a list', {
    some: [LIST, { '==': [`${LITERAL}a`, `${LITERAL}b`] }],
  }),
  reacts('a condition that makes numbers of lists', { '>': [{ '+': [LIST, LIST] }, 1] }),
  reacts('a condition that searches a list for each of its entries', { filter: [LIST, { in: [11, LIST] }] }),
  reacts('a condition that searches a list mapped to long text', { in: [11, { map: [LIST, LITERAL] }] }),
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
    send: checks('large', () =>
      Object.fromEntries(Array.from({ length: 30 }, (_unused, index) => [`field${index}`, { type: 'integer' }])),
    ),
  },
  {
    name: 'a check of an event type with 300 properties of 100 values each',
    send: checks('wide', () => {
      const values = Array.from({ length: 100 }, (_unused, n) => `value-${n}`);
      return Object.fromEntries(
        Array.from({ length: 300 }, (_unused, n) => [`property${n}`, { type: 'string', enum: values }]),
      );
    }),
  },
  {
    name: 'an event type with 15,000 properties',
    send: checks('many', () => Object.fromEntries(Array.from({ length: 15_000 }, (_unused, n) => [n.toString(36), 0]))),
  },
];
