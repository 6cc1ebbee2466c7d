/** What a client has learnt from one attempt to send an event. */
export type EventOutcome =
  | { readonly kind: 'accepted'; readonly eventId: string }
  | { readonly kind: 'duplicate'; readonly eventId: string }
  /** For a reason that lies in the event: it is not stored. */
  | { readonly kind: 'refused'; readonly code: string }
  /** No answer, half an answer, or 503: stored or not. */
  | { readonly kind: 'unknown' };

/** One event, and all that its senders have ever heard of it, in any order. */
export interface SentEvent {
  readonly tenantId: string;
  readonly source: string;
  readonly externalEventId: string;
  readonly outcomes: readonly EventOutcome[];
}

export interface StoredEvent {
  readonly tenantId: string;
  readonly source: string;
  readonly externalEventId: string;
  readonly eventId: string;
  /** Entries of the queue that name it; undefined where workers have emptied the queue meanwhile. */
  readonly queued?: number;
}

type Named = Pick<SentEvent, 'tenantId' | 'source' | 'externalEventId'>;

const keyOf = ({ tenantId, source, externalEventId }: Named): string =>
  JSON.stringify([tenantId, source, externalEventId]);

/** What is wrong between what clients were told and what is stored; nothing, when every promise was kept. */
export function eventViolations(sent: readonly SentEvent[], stored: readonly StoredEvent[]): string[] {
  const rows = new Map<string, StoredEvent[]>();
  for (const row of stored) rows.set(keyOf(row), [...(rows.get(keyOf(row)) ?? []), row]);
  const known = new Set(sent.map(keyOf));
  const unasked = stored
    .filter((row) => !known.has(keyOf(row)))
    .map((row) => `stored but never sent: ${row.externalEventId}`);
  return [...unasked, ...sent.flatMap((event) => violationsOf(event, rows.get(keyOf(event)) ?? []))];
}

/** Events of which nobody knows yet whether they are stored: to be sent again until somebody does. */
export function isUnsettled({ outcomes }: Pick<SentEvent, 'outcomes'>): boolean {
  return outcomes.every(({ kind }) => kind === 'unknown');
}

function violationsOf(event: SentEvent, rows: readonly StoredEvent[]): string[] {
  const of = (words: string): string => `${words}: ${event.externalEventId}`;
  const accepted = event.outcomes.filter((outcome) => outcome.kind === 'accepted');
  const duplicates = event.outcomes.filter((outcome) => outcome.kind === 'duplicate');
  const unknown = event.outcomes.filter((outcome) => outcome.kind === 'unknown');
  const violations: string[] = [];
  if (isUnsettled(event)) violations.push(of('never settled'));
  if (accepted.length > 1) violations.push(of('accepted more than once'));
  if (rows.length > 1) violations.push(of('stored more than once'));
  if (accepted.length > 0 && rows.length === 0) violations.push(of('accepted and lost'));
  if (duplicates.length > 0 && rows.length === 0) violations.push(of('called a duplicate of nothing'));
  if (duplicates.length > 0 && accepted.length + unknown.length === 0) violations.push(of('never accepted before'));
  if (rows.length > 0 && accepted.length + duplicates.length + unknown.length === 0) {
    violations.push(of('refused and stored'));
  }
  const named = new Set([...accepted, ...duplicates].map(({ eventId }) => eventId));
  for (const row of rows) {
    if (named.size > 0 && (named.size > 1 || !named.has(row.eventId))) violations.push(of('answered with another id'));
    if (row.queued !== undefined && row.queued !== 1) violations.push(of(`queued ${row.queued} times`));
  }
  return violations;
}
