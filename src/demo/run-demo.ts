import { declareCampaign, readRevenue } from './campaign';
import type { Purchase } from './cdnow';
import { readSample } from './cdnow-file';
import { EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE } from './cdp-wire';
import { ClientFailure } from '../client/client-failure';
import { fieldsOf, readable } from '../client/foreign-data';
import { growthOf, readEventCounts } from './event-counts';
import type { DemoOptions } from './options';
import { noProgress, type StartProgress } from './progress';
import { report } from './report';
import { atMost, sendEvents, type Run } from './send-events';
import { ServiceClient } from '../client/service-client';

export interface DemoSurroundings {
  /** Takes one or more lines, without the last line's end. */
  readonly out: (text: string) => void;
  readonly progress?: StartProgress;
}

export const ADVICE = {
  credential: 'The demo needs an admin key (--key or CDS_API_KEY).',
  silence: 'Nothing is lost: run the demo again when it is back.',
};
/** Few: whether there is a service at all should be known at once. */
const REGISTER_ATTEMPTS_MAX = 4;

/**
 * The tour: registers the event type, declares a campaign that adds the purchases up, sends the sample, sends it again, and
 * prints what the service made of it. Answers whether all of it is right; throws `ClientFailure` when it cannot be done.
 */
export async function runDemo(options: DemoOptions & DemoSurroundings): Promise<boolean> {
  const { url, key, out, batch, concurrency } = options;
  const purchases = readSample();
  const client = new ServiceClient(url, key, ADVICE);
  await registerPurchase(client);
  const campaign = await declareCampaign(client);
  out('CDNOW: real purchases at an online record shop, January 1997 to June 1998 (Fader & Hardie 2001).');
  out(`Sent twice to ${url}, in batches of ${batch}, ${concurrency} under way at a time.`);
  const before = await readEventCounts(client);
  const first = await send('first run', client, purchases, options);
  const firstRevenue = await readRevenue(client, campaign, purchases);
  const second = await send('second run', client, purchases, options);
  const revenues = [firstRevenue, await readRevenue(client, campaign, purchases)] as const;
  const counted = growthOf(before, await readEventCounts(client), 2 * purchases.length);
  const { text, isRight } = report(purchases, first, second, { revenues, counted });
  out(text);
  return isRight;
}

async function registerPurchase(client: ServiceClient): Promise<void> {
  const reply = await client.post(EVENT_TYPES_PATH, JSON.stringify(PURCHASE_EVENT_TYPE), {
    retries: atMost(REGISTER_ATTEMPTS_MAX),
  });
  const { error_code: code, message } = fieldsOf(reply.body);
  if (code === 'incompatible_event_type') {
    throw new ClientFailure(
      `This workspace has an event type "${PURCHASE_EVENT_TYPE.eventType}" of its own, which the demo leaves alone.` +
        ` Use a key of another workspace. (The service says: ${readable(String(message))})`,
    );
  }
  const isRegistered = reply.status === 200 || reply.status === 201;
  if (!isRegistered || fieldsOf(reply.body)['eventType'] !== PURCHASE_EVENT_TYPE.eventType) throw client.refusal(reply);
}

async function send(
  label: string,
  client: ServiceClient,
  purchases: readonly Purchase[],
  { batch, concurrency, progress = noProgress }: DemoOptions & DemoSurroundings,
): Promise<Run> {
  const { update, stop } = progress(label, purchases.length);
  try {
    return await sendEvents(client, purchases, { batch, concurrency, onProgress: update });
  } finally {
    stop();
  }
}
