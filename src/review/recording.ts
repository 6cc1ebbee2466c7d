import type { Statement } from '../platform/postgres/pipelined-connection';
import { bytesOf, type NewReviewEntry } from './domain/review-entry';
import { slicesBySize } from './domain/slices-by-size';
import { RECORD_ENTRIES, RECORD_ENTRIES_ONCE } from './review.sql';

/** Building a statement of this size blocks the event loop for some milliseconds. */
const STATEMENT_BYTES_MAX = 1024 * 1024;

type CountedEntry = NewReviewEntry & { readonly occurrences: number };

/** A statement that writes entries; `rows` is its first parameter. */
interface Recording {
  readonly statement: Statement;
  readonly rows: string;
}

/** The statements that write these entries, always in the same order. Each is built when the iterator reaches it. */
export function* recordingOf(entries: readonly NewReviewEntry[]): Iterable<Recording> {
  for (const statement of [RECORD_ENTRIES, RECORD_ENTRIES_ONCE]) {
    const matching = entries.filter(({ once }) => once === (statement === RECORD_ENTRIES_ONCE));
    for (const slice of slicesOf(matching)) yield { statement, rows: JSON.stringify(slice.map(columnsOf)) };
  }
}

/**
 * Adds up the occurrences of each entry, because a statement can write a row only once. Sorted, so that nodes do not
 * deadlock.
 */
function slicesOf(entries: readonly NewReviewEntry[]): CountedEntry[][] {
  const counted = new Map<string, CountedEntry>();
  for (const entry of entries) {
    const known = counted.get(entry.id);
    if (known !== undefined && entry.once) continue;
    counted.set(entry.id, { ...entry, occurrences: (known?.occurrences ?? 0) + 1 });
  }
  const sorted = [...counted.values()].sort((a, b) => (a.tenantId + a.id < b.tenantId + b.id ? -1 : 1));
  const sizes = sorted.map((entry) => ({ id: entry.id, bytes: bytesOf(entry) }));
  return slicesBySize(sizes, STATEMENT_BYTES_MAX).map((ids) => ids.flatMap((id) => counted.get(id) ?? []));
}

function columnsOf(entry: CountedEntry): object {
  return {
    tenant_id: entry.tenantId,
    id: entry.id,
    severity: entry.severity,
    stage: entry.stage,
    reason: entry.reason,
    message: entry.message,
    details: entry.details,
    family: entry.family,
    source: entry.source,
    external_event_id: entry.externalEventId,
    event_type: entry.eventType,
    event_id: entry.eventId,
    payload: entry.payload,
    payload_form: entry.payloadForm,
    payload_state: entry.payloadState,
    bytes: bytesOf(entry),
    // These get a row beyond the limit, too: a replay of a stored event needs its entry, and `once` limits the other
    // rows.
    keeps_row: entry.once || entry.stage === 'processing',
    occurrences: entry.occurrences,
    seen_at: new Date(entry.at).toISOString(),
  };
}
