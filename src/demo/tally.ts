import type { EventResult } from '../../clients/typescript/src/client';
import type { Purchase } from './cdnow';
import type { Answered, Run } from './send-events';

/** What purchases add up to. */
export interface Totals {
  readonly purchases: number;
  readonly customers: number;
  readonly cds: number;
  readonly cents: number;
  /** By month, `1997-01`. */
  readonly centsByMonth: ReadonlyMap<string, number>;
}

/** What one run came to. */
export interface RunTally {
  readonly accepted: number;
  readonly duplicate: number;
  readonly error: number;
  readonly seconds: number;
  readonly repeatedRequests: number;
  /** Of the events that the service has now, by what it answered. */
  readonly totals: Totals;
}

/** What one run came to: counts of answers, and the sums of what the service has now. */
export function tallyRun({ answered, seconds, repeatedRequests }: Run): RunTally {
  const count = (status: string): number => answered.filter(({ result }) => result.status === status).length;
  return {
    accepted: count('accepted'),
    duplicate: count('duplicate'),
    error: count('error'),
    seconds,
    repeatedRequests,
    totals: totalsOf(storedOnce(answered)),
  };
}

/** What these purchases add up to, in whole cents. */
export function totalsOf(purchases: readonly Purchase[]): Totals {
  const centsByMonth = new Map<string, number>();
  for (const { date, cents } of purchases) {
    const month = date.slice(0, 'YYYY-MM'.length);
    centsByMonth.set(month, (centsByMonth.get(month) ?? 0) + cents);
  }
  return {
    purchases: purchases.length,
    customers: new Set(purchases.map(({ customer }) => customer)).size,
    cds: purchases.reduce((sum, { quantity }) => sum + quantity, 0),
    cents: purchases.reduce((sum, { cents }) => sum + cents, 0),
    centsByMonth,
  };
}

/** Whether two sums agree in every number, to the cent and in every month. */
export function isSameTotals(a: Totals, b: Totals): boolean {
  const months = new Set([...a.centsByMonth.keys(), ...b.centsByMonth.keys()]);
  return (
    a.purchases === b.purchases &&
    a.customers === b.customers &&
    a.cds === b.cds &&
    a.cents === b.cents &&
    [...months].every((month) => a.centsByMonth.get(month) === b.centsByMonth.get(month))
  );
}

/** How many events the second run did not answer as `duplicate` with the id that the first run got. */
export function disagreements(first: Run, second: Run): number {
  const ids = new Map(first.answered.map(({ purchase, result }) => [purchase, eventIdOf(result)]));
  const agreeing = second.answered.filter(
    ({ purchase, result }) => result.status === 'duplicate' && result.original_event_id === ids.get(purchase),
  );
  return first.answered.length - agreeing.length;
}

/** Two purchases that the service takes for one event count once, and the sums show it. */
function storedOnce(answered: readonly Answered[]): readonly Purchase[] {
  const byEventId = new Map<string, Purchase>();
  for (const { purchase, result } of answered) {
    const eventId = eventIdOf(result);
    if (eventId !== undefined && !byEventId.has(eventId)) byEventId.set(eventId, purchase);
  }
  return [...byEventId.values()];
}

function eventIdOf(result: EventResult): string | undefined {
  switch (result.status) {
    case 'accepted':
      return result.event_id;
    case 'duplicate':
      return result.original_event_id;
    case 'error':
      return undefined;
  }
}
