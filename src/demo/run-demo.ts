import { declareCampaign, readRevenue } from './campaign';
import { type Purchase, readSample } from './cdnow';
import { EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE } from './cdp-wire';
import { fieldsOf, readable } from '../cli/foreign-data';
import { ClientFailure, ServiceRefusal, type RunningService } from '../cli/running-service';
import { growthOf, readEventCounts } from './event-counts';
import type { DemoOptions } from './options';
import { noProgress, type StartProgress } from './progress';
import { report } from './report';
import { demoService, sendEvents, type Run } from './send-events';

export interface DemoSurroundings {
  /** Takes one or more lines, without the last line's end. */
  readonly out: (text: string) => void;
  readonly progress?: StartProgress;
}

/** Few: it should be known soon whether there is a service at all. */
const ATTEMPTS_MAX = 4;

/**
 * The tour: registers the event type, declares a campaign that adds the purchases up, sends the sample, sends it again, and
 * prints what the service made of it. Answers whether all of it is right; throws `ClientFailure` when it cannot be done.
 */
export async function runDemo(options: DemoOptions & DemoSurroundings): Promise<boolean> {
  const { url, out, batch, concurrency } = options;
  const purchases = readSample();
  const service = demoService(options, { attemptsMax: ATTEMPTS_MAX });
  await registerPurchase(service);
  const campaign = await declareCampaign(service);
  out('CDNOW: real purchases at an online record shop, January 1997 to June 1998 (Fader & Hardie 2001).');
  out(`Sent twice to ${url}, in batches of ${batch}, ${concurrency} under way at a time.`);
  const before = await readEventCounts(url);
  const first = await send('first run', purchases, options);
  const firstRevenue = await readRevenue(service, campaign, purchases);
  const second = await send('second run', purchases, options);
  const revenues = [firstRevenue, await readRevenue(service, campaign, purchases)] as const;
  const counted = growthOf(before, await readEventCounts(url), 2 * purchases.length);
  const { text, isRight } = report(purchases, first, second, { revenues, counted });
  out(text);
  return isRight;
}

async function registerPurchase(service: RunningService): Promise<void> {
  let registered: unknown;
  try {
    registered = await service.post(EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE);
  } catch (error) {
    const problem = error instanceof ServiceRefusal ? error.problem : undefined;
    if (problem?.errorCode !== 'incompatible_event_type') throw error;
    throw new ClientFailure(
      `This workspace has an event type "${PURCHASE_EVENT_TYPE.eventType}" of its own, which the demo leaves alone.` +
        ` Use a key of another workspace. (The service says: ${readable(problem.message)})`,
    );
  }
  if (fieldsOf(registered)['eventType'] !== PURCHASE_EVENT_TYPE.eventType) throw service.foreignAnswer(200);
}

async function send(
  label: string,
  purchases: readonly Purchase[],
  { url, key, batch, concurrency, progress = noProgress }: DemoOptions & DemoSurroundings,
): Promise<Run> {
  const { update, stop } = progress(label, purchases.length);
  try {
    return await sendEvents({ url, key }, purchases, { batch, concurrency, onProgress: update });
  } finally {
    stop();
  }
}
