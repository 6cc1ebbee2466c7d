import Table from 'cli-table3';
import { purchaseId, type Purchase } from './cdnow';
import { DEMO_CAMPAIGN, type Revenue } from './campaign';
import type { EventCounts } from './event-counts';
import { readable } from '../cli/foreign-data';
import type { Run } from './send-events';
import { disagreements, isSameTotals, tallyRun, totalsOf, type RunTally, type Totals } from './tally';

export interface Report {
  readonly text: string;
  /** No errors, the second run all duplicates of the first, and the totals those of the file. */
  readonly isRight: boolean;
}

const ERRORS_SHOWN_MAX = 5;
const NUMBER = new Intl.NumberFormat('en-US');
const REVENUE = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 20 });

/** What the service shows beside its answers. */
export interface Shown {
  /** Of the campaign, after each run. */
  readonly revenues: readonly [Revenue, Revenue];
  /** The growth of the counters of `/metrics`; undefined when it is unknown. */
  readonly counted?: EventCounts | undefined;
}

/** What came of sending `purchases` twice. */
export function report(purchases: readonly Purchase[], first: Run, second: Run, shown: Shown): Report {
  const file = totalsOf(purchases);
  const tallies = [tallyRun(first), tallyRun(second)] as const;
  const differing = disagreements(first, second);
  const isComplete = tallies.every(({ totals }) => isSameTotals(totals, file));
  const errors = tallies[0].error + tallies[1].error;
  const notes = [
    ...notesOnFirst(tallies[0]),
    ...notesOnRepeats(tallies),
    differing === 0
      ? 'The runs agree: every duplicate of the second run names the event id that the first run got.'
      : `THE RUNS DO NOT AGREE: for ${amount(differing, 'event', 'events')} the second answer is not a duplicate of the first.`,
    isComplete
      ? 'What the service answered adds up to the file, right to the cent.'
      : 'WHAT THE SERVICE ANSWERED DOES NOT ADD UP TO THE FILE; compare the columns.',
    ...notesOnCampaign(shown.revenues, file),
    ...notesOnMetrics(shown.counted),
    ...(errors > 0 ? [listErrors(errors, first, second)] : []),
  ];
  return {
    text: [table(tallies, file, shown.revenues), ...notes].join('\n'),
    isRight: errors === 0 && differing === 0 && isComplete && shown.revenues.every((each) => isAsIn(file, each)),
  };
}

function table(tallies: readonly [RunTally, RunTally], file: Totals, revenues: Shown['revenues']): string {
  const grid = new Table({
    head: ['', 'first run', 'second run', 'in the file'],
    colAligns: ['left', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const perRun = (name: string, show: (tally: RunTally) => string): string[] => [name, ...tallies.map(show), ''];
  const compared = (name: string, show: (totals: Totals) => string): string[] => [
    name,
    ...tallies.map(({ totals }) => show(totals)),
    show(file),
  ];
  const blank = ['', '', '', ''];
  grid.push(
    perRun('accepted', ({ accepted }) => NUMBER.format(accepted)),
    perRun('duplicate', ({ duplicate }) => NUMBER.format(duplicate)),
    perRun('error', ({ error }) => NUMBER.format(error)),
    perRun('seconds', ({ seconds }) => seconds.toFixed(2)),
    perRun('events per second', eventsPerSecond),
    blank,
    compared('purchases', ({ purchases }) => NUMBER.format(purchases)),
    compared('customers', ({ customers }) => NUMBER.format(customers)),
    compared('CDs', ({ cds }) => NUMBER.format(cds)),
    compared('dollars', ({ cents }) => dollars(cents)),
    ...[...file.centsByMonth.keys()]
      .sort()
      .map((month) => compared(`  ${month}`, ({ centsByMonth }) => dollars(centsByMonth.get(month) ?? 0))),
    blank,
    ['revenue of the campaign', ...revenues.map(revenueCell), dollars(file.cents)],
  );
  return grid.toString();
}

function eventsPerSecond({ accepted, duplicate, error, seconds }: RunTally): string {
  return NUMBER.format(Math.round((accepted + duplicate + error) / Math.max(seconds, 0.001)));
}

/** From whole cents, so that nothing is rounded. */
function dollars(cents: number): string {
  return `${NUMBER.format(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, '0')}`;
}

/** As the state has it, to the last digit. */
function revenueCell(revenue: Revenue): string {
  return 'reason' in revenue ? '-' : REVENUE.format(revenue.dollars);
}

/** Both are the number that is nearest to the same decimal one, or differ. */
function isAsIn({ cents }: Totals, revenue: Revenue): boolean {
  return 'reason' in revenue ? revenue.isHarmless : revenue.dollars === cents / 100;
}

function notesOnCampaign(revenues: Shown['revenues'], file: Totals): string[] {
  const [, last] = revenues;
  const place = `state.campaign.revenue of the campaign "${DEMO_CAMPAIGN}"`;
  if ('reason' in last) return [`${last.isHarmless ? 'Without' : 'WITHOUT'} ${place}: ${last.reason}`];
  return revenues.every((revenue) => isAsIn(file, revenue))
    ? [`The reaction has added each purchase once: ${place} is the sum of the file.`]
    : [`THE CAMPAIGN DOES NOT ADD UP TO THE FILE: compare ${place}, and see GET /v1/review-entries?status=open.`];
}

function notesOnMetrics(counted: EventCounts | undefined): string[] {
  if (counted === undefined) return [];
  const { received, accepted, duplicate, rejected } = counted;
  const outcomes = Object.entries({ accepted, duplicate, rejected }).map(([name, n]) => `${NUMBER.format(n)} ${name}`);
  const sign = received === accepted + duplicate + rejected ? '=' : '(some still under way) against';
  return [`/metrics, of all clients: ${NUMBER.format(received)} received ${sign} ${outcomes.join(' + ')}.`];
}

function notesOnFirst({ accepted, duplicate, repeatedRequests }: RunTally): string[] {
  if (duplicate === 0) return [];
  if (accepted === 0)
    return ['The service had these events already: the first run added nothing, and each still counts once.'];
  const known = `The first run found ${amount(duplicate, 'event', 'events')} there already`;
  const origin = repeatedRequests > 0 ? ', from before or from a request whose answer got lost' : '';
  return [`${known}${origin}; each still counts once.`];
}

function notesOnRepeats(tallies: readonly RunTally[]): string[] {
  const repeats = tallies.reduce((sum, { repeatedRequests }) => sum + repeatedRequests, 0);
  return repeats === 0 ? [] : [`${amount(repeats, 'request', 'requests')} had to be sent again.`];
}

function listErrors(count: number, first: Run, second: Run): string {
  const lines = [...first.answered, ...second.answered]
    .flatMap(({ purchase, result }) => (result.status === 'error' ? [{ purchase, result }] : []))
    .slice(0, ERRORS_SHOWN_MAX)
    .map(({ purchase, result }) => `  ${purchaseId(purchase)}: ${readable(`${result.error_code}: ${result.message}`)}`);
  const heading = count > lines.length ? `${amount(count, 'error', 'errors')}, the first of them:` : 'Errors:';
  return [heading, ...lines].join('\n');
}

function amount(count: number, one: string, many: string): string {
  return `${NUMBER.format(count)} ${count === 1 ? one : many}`;
}
