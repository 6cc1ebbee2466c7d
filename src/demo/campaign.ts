import { setTimeout as wait } from 'node:timers/promises';
import { purchaseId, type Purchase } from './cdnow';
import { PURCHASE_EVENT_TYPE, SOURCE, subjectOf } from './cdp-wire';
import { fieldsOf } from '../cli/foreign-data';
import { ServiceRefusal, type RunningService } from '../cli/running-service';

/** A campaign of the demo's own, which reacts to its purchases and to no others. */
export const DEMO_CAMPAIGN = 'cdnow-demo';
const CAMPAIGN_PATH = `/v1/campaigns/${DEMO_CAMPAIGN}`;
const VARIABLES = [
  { scope: 'user', name: 'spent', type: 'number' },
  { scope: 'campaign', name: 'revenue', type: 'number' },
];
const REACTION = {
  name: 'count-purchases',
  eventType: PURCHASE_EVENT_TYPE.eventType,
  source: SOURCE,
  ops: VARIABLES.map(({ scope, name }) => ({
    path: `state.${scope}.${name}`,
    op: 'inc',
    valueFrom: 'properties.amount',
  })),
};

const POLL_MS = 300;
/** Several times what a slow machine takes for the whole sample. */
const PROCESSED_WITHIN_MS = 120_000;

/** The revenue in the state of the campaign, or why it is not known. */
export type Revenue = { readonly dollars: number } | UnknownRevenue;

export interface UnknownRevenue {
  readonly reason: string;
  /** Nothing is wrong: the campaign did not get the events, or the key may not read the campaign. */
  readonly isHarmless: boolean;
}

export interface DemoCampaign {
  /** From when on events count, in ms. */
  readonly appliesFrom: number;
}

/** Declares that each purchase is added up; doing it again changes nothing. Answers the reason when that is refused. */
export async function declareCampaign(service: RunningService): Promise<DemoCampaign | UnknownRevenue> {
  try {
    for (const variable of VARIABLES) await service.post(`${CAMPAIGN_PATH}/variables:define`, variable);
    const defined = fieldsOf(await service.post(`${CAMPAIGN_PATH}/reactions:define`, REACTION));
    return { appliesFrom: Date.parse(String(fieldsOf(defined['reaction'])['appliesFrom'])) };
  } catch (error) {
    return refused(error);
  }
}

/** Waits until the purchases that are stored are processed, and reads what they came to. */
export async function readRevenue(
  service: RunningService,
  campaign: DemoCampaign | UnknownRevenue,
  purchases: readonly Purchase[],
): Promise<Revenue> {
  if ('reason' in campaign) return campaign;
  const [first] = purchases;
  if (first === undefined) return { dollars: 0 };
  try {
    if (await wasStoredBefore(service, campaign, first)) {
      return { reason: 'It was declared after the events had come, and counts later ones.', isHarmless: true };
    }
    if (!(await areProcessed(service))) {
      return { reason: 'Events still wait to be processed; see that a worker runs (ROLE).', isHarmless: false };
    }
    const { state } = fieldsOf(await service.get(`${CAMPAIGN_PATH}/participants/${subjectOf(first)}/state`));
    const { revenue } = fieldsOf(fieldsOf(state)['campaign']);
    return { dollars: typeof revenue === 'number' ? revenue : 0 };
  } catch (error) {
    return refused(error);
  }
}

/** A key may have scopes for one of these routes and not for another. */
function refused(error: unknown): UnknownRevenue {
  if (error instanceof ServiceRefusal) return { reason: error.message, isHarmless: true };
  throw error;
}

/** Whether the event came before the campaign was declared, in an earlier tour: reactions apply to later events only. */
async function wasStoredBefore(
  service: RunningService,
  { appliesFrom }: DemoCampaign,
  purchase: Purchase,
): Promise<boolean> {
  const query = new URLSearchParams({ source: SOURCE, externalEventId: purchaseId(purchase) });
  const [event] = itemsOf(await service.get(`/v1/events?${query.toString()}`));
  return Date.parse(String(fieldsOf(event)['receivedAt'])) < appliesFrom;
}

async function areProcessed(service: RunningService): Promise<boolean> {
  const path = `/v1/events?source=${SOURCE}&state=queued&limit=1`;
  for (const end = performance.now() + PROCESSED_WITHIN_MS; performance.now() < end;) {
    if (itemsOf(await service.get(path)).length === 0) return true;
    await wait(POLL_MS);
  }
  return false;
}

function itemsOf(page: unknown): readonly unknown[] {
  const { items } = fieldsOf(page);
  return Array.isArray(items) ? items : [];
}
