import { setTimeout as wait } from 'node:timers/promises';
import { purchaseId, type Purchase } from './cdnow';
import { PURCHASE_EVENT_TYPE, SOURCE, subjectOf } from './cdp-wire';
import { fieldsOf } from '../client/foreign-data';
import type { Reply, ServiceClient } from '../client/service-client';
import { atMost } from './send-events';

/** A campaign of the demo's own, which reacts to its purchases and to no others. */
export const DEMO_CAMPAIGN = 'cdnow-demo';
const CAMPAIGN_PATH = `/v1/campaigns/${DEMO_CAMPAIGN}`;
const VARIABLES = [
  { scope: 'user', name: 'spent', type: 'number' },
  { scope: 'campaign', name: 'revenue', type: 'number' },
];
const REACTION = {
  ...{ name: 'count-purchases', eventType: PURCHASE_EVENT_TYPE.eventType, source: SOURCE },
  ops: VARIABLES.map(({ scope, name }) => ({
    ...{ path: `state.${scope}.${name}`, op: 'inc', valueFrom: 'properties.amount' },
  })),
};

const ATTEMPTS_MAX = 4;
const POLL_MS = 300;
/** Several times what a slow machine takes for the whole sample. */
const PROCESSED_WITHIN_MS = 120_000;

/** What the state of the campaign says; else why it says nothing. */
export type Revenue = { readonly dollars: number } | UnknownRevenue;

export interface UnknownRevenue {
  readonly silence: string;
  /** Nothing is wrong: the campaign has not seen the events, or the key may not see the campaign. */
  readonly isHarmless: boolean;
}

export interface DemoCampaign {
  /** From when on events count, in ms. */
  readonly appliesFrom: number;
}

/** Declares that each purchase is added up; doing it again changes nothing. Or why that cannot be. */
export async function declareCampaign(client: ServiceClient): Promise<DemoCampaign | UnknownRevenue> {
  const declarations: [string, object][] = [
    ...VARIABLES.map((variable): [string, object] => ['variables:define', variable]),
    ['reactions:define', REACTION],
  ];
  let reply: Reply | undefined;
  for (const [verb, body] of declarations) {
    reply = await client.post(`${CAMPAIGN_PATH}/${verb}`, JSON.stringify(body), { retries: atMost(ATTEMPTS_MAX) });
    if (reply.status !== 200) return { silence: client.refusal(reply).message, isHarmless: true };
  }
  return { appliesFrom: Date.parse(String(fieldsOf(fieldsOf(reply?.body)['reaction'])['appliesFrom'])) };
}

/** Waits until the purchases that are stored are processed, and reads what they came to. */
export async function readRevenue(
  client: ServiceClient,
  campaign: DemoCampaign | UnknownRevenue,
  purchases: readonly Purchase[],
): Promise<Revenue> {
  if ('silence' in campaign) return campaign;
  const [first] = purchases;
  if (first === undefined) return { dollars: 0 };
  try {
    if (await wasStoredBefore(client, campaign, first)) {
      return { silence: 'It was declared after the events had come, and counts later ones.', isHarmless: true };
    }
    if (!(await areProcessed(client))) {
      return { silence: 'Events still wait to be processed; see that a worker runs (ROLE).', isHarmless: false };
    }
    const path = `${CAMPAIGN_PATH}/participants/${subjectOf(first)}/state`;
    const { revenue } = fieldsOf(fieldsOf((await read(client, path))['state'])['campaign']);
    return { dollars: typeof revenue === 'number' ? revenue : 0 };
  } catch (error) {
    if (error instanceof Unreadable) return { silence: error.message, isHarmless: true };
    throw error;
  }
}

/** A key may declare and not read. */
class Unreadable extends Error {}

/** A tour from before there was this campaign: reactions make nothing up for what came before them. */
async function wasStoredBefore(
  client: ServiceClient,
  { appliesFrom }: DemoCampaign,
  purchase: Purchase,
): Promise<boolean> {
  const query = new URLSearchParams({ source: SOURCE, externalEventId: purchaseId(purchase) });
  const [event] = itemsOf(await read(client, `/v1/events?${query.toString()}`));
  return Date.parse(String(fieldsOf(event)['receivedAt'])) < appliesFrom;
}

async function areProcessed(client: ServiceClient): Promise<boolean> {
  const path = `/v1/events?source=${SOURCE}&state=queued&limit=1`;
  for (const end = performance.now() + PROCESSED_WITHIN_MS; performance.now() < end;) {
    if (itemsOf(await read(client, path)).length === 0) return true;
    await wait(POLL_MS);
  }
  return false;
}

async function read(client: ServiceClient, path: string): Promise<Readonly<Record<string, unknown>>> {
  const reply = await client.get(path, { retries: atMost(ATTEMPTS_MAX) });
  if (reply.status !== 200) throw new Unreadable(client.refusal(reply).message);
  return fieldsOf(reply.body);
}

function itemsOf({ items }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(items) ? items : [];
}
