/** What `/metrics` counts of events, of all clients and both families. */
export interface EventCounts {
  readonly received: number;
  readonly accepted: number;
  readonly duplicate: number;
  readonly rejected: number;
}

const LINE =
  /^cds_events_(?:(received)_total\{[^}]*\}|total\{[^}]*outcome="(accepted|duplicate|rejected)"[^}]*\}) (\d+)$/gm;

const ANSWER_MS_MAX = 30_000;

/** Undefined where `/metrics` cannot be reached; it is for operators, and need not be there for clients. */
export async function readEventCounts(url: string): Promise<EventCounts | undefined> {
  try {
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const text = await response.text();
    return response.status === 200 ? eventCounts(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined when it is not the text of the service's metrics. */
export function eventCounts(text: string): EventCounts | undefined {
  if (!text.includes('# TYPE cds_events_received_total ')) return undefined;
  const counts = { received: 0, accepted: 0, duplicate: 0, rejected: 0 };
  for (const [, received, outcome, count] of text.matchAll(LINE)) {
    counts[(received ?? outcome) as keyof EventCounts] += Number(count);
  }
  return counts;
}

/** Undefined when it is less than was sent: where several nodes serve behind one address, each counts for itself. */
export function growthOf(
  before: EventCounts | undefined,
  after: EventCounts | undefined,
  sentAtLeast: number,
): EventCounts | undefined {
  if (before === undefined || after === undefined) return undefined;
  const growth = {
    received: after.received - before.received,
    accepted: after.accepted - before.accepted,
    duplicate: after.duplicate - before.duplicate,
    rejected: after.rejected - before.rejected,
  };
  return growth.received < sentAtLeast ? undefined : growth;
}
