import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { anExternalEvent } from '../../support/builders';
import type { Client } from '../../support/client';
import { type Campaign, mutate } from '../../support/runtime';
import { BATCH, contactLike, type ExpensiveInput, gets, manyTexts, statuses, storeLarge } from './expensive-input';

/** Text that masking has to look at closely, or JSON that is slow to walk. */
const HARD_TO_MASK = {
  'looks like contact data': contactLike,
  'nearly is an email address': () => manyTexts('a@'),
  'has digits of another script': () => manyTexts('٤'),
  'is telephone numbers': () => manyTexts('0170 1234567 '),
  'is 20,000 empty lists': () => ({ lists: Array.from({ length: 20_000 }, () => []) }),
};

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

async function profileIdOf(client: Client): Promise<string> {
  return (await client.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: 'large' })).body.id;
}

function deepText(depth: number): string {
  return '['.repeat(depth) + ','.repeat(1_000) + ']'.repeat(depth);
}

/** Sends many requests and reads no answer, for a second. */
async function sendsUnread(campaign: Campaign, connections: number, requests: number): Promise<readonly number[]> {
  const { url, key } = campaign.workspace.admin;
  const request = `GET /v1/events?limit=200 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const sockets: Socket[] = [];
  for (let index = 0; index < connections; index += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined).pause();
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(request.repeat(requests));
  }
  await wait(1_000);
  for (const socket of sockets) socket.destroy();
  return [];
}

const readsOfEvents = Object.entries(HARD_TO_MASK).flatMap(([text, attributes]): ExpensiveInput[] => {
  const prepare: ExpensiveInput['prepare'] = ({ workspace }) => storeLarge(workspace.admin, 200, attributes);
  return [
    { name: `a page of events whose text ${text}`, prepare, send: gets(3, () => '/v1/events?limit=200') },
    {
      name: `a timeline of events whose text ${text}`,
      prepare,
      send: async ({ workspace }) => {
        const id = await profileIdOf(workspace.admin);
        return statuses(3, () => workspace.admin.get(`/v1/cdp/profiles/${id}/events?limit=200`));
      },
    },
    {
      name: `an export of a customer whose text ${text}`,
      prepare,
      send: async ({ workspace }) => {
        const id = await profileIdOf(workspace.admin);
        return statuses(2, () => workspace.admin.post(`/v1/cdp/profiles/${id}:export`, {}));
      },
    },
  ];
});

export const EXPENSIVE_READS: readonly ExpensiveInput[] = [
  ...readsOfEvents,
  {
    name: 'pages of the largest events, pipelined on 20 connections and never read',
    prepare: ({ workspace }) => storeLarge(workspace.admin, 200, contactLike),
    send: (campaign) => sendsUnread(campaign, 20, 20),
  },
  {
    name: 'pages of the largest events on 140 connections that never read',
    prepare: ({ workspace }) => storeLarge(workspace.admin, 200, contactLike),
    send: (campaign) => sendsUnread(campaign, 140, 1),
  },
  {
    name: 'the state of a participant with the largest values',
    prepare: async (campaign) => {
      for (let index = 0; index < 15; index += 1) await campaign.define(`state.user.text${index}`, 'string');
      const ops = Array.from({ length: 15 }, (_unused, index) => ({
        path: `state.user.text${index}`,
        op: 'set',
        value: 'é'.repeat(2_000),
      }));
      await mutate(campaign.participant(), ops);
    },
    send: (campaign) => statuses(20, () => campaign.participant().get('/v1/runtime/state')),
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
    name: 'the erasure of a customer beside many malformed bodies',
    prepare: async ({ workspace }) => {
      await storeLarge(workspace.admin, 50, contactLike);
      await storeMalformed(workspace.admin, `{"a":"${'large '.repeat(10_000)}`, 50);
    },
    send: async ({ workspace }) => {
      const id = await profileIdOf(workspace.admin);
      return statuses(1, () => workspace.admin.post(`/v1/cdp/profiles/${id}:erase`, {}));
    },
  },
];
