import { createHash } from 'node:crypto';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { Statement } from '../platform/postgres/statement';
import type { NewReviewEntry } from './domain/review-entry';
import { slicesBySize } from './domain/slices-by-size';
import * as sql from './recording.sql';

/** Building a statement of this size blocks the event loop for some milliseconds. */
const STATEMENT_BYTES_MAX = 1024 * 1024;

const COUNTED_MESSAGE =
  'The review area of this workspace has reached its limit of bytes for this day (REVIEW_BYTES_PER_DAY_MAX). Until the ' +
  'day ends (UTC), problems with this reason are counted here without payloads. Correct the sender, or ask the operator ' +
  'to raise the limit.';

type CountedEntry = NewReviewEntry & { readonly occurrences: number };

/** A row of `WRITE_ENTRIES`. */
type WrittenRow = Readonly<Record<keyof typeof sql.WRITTEN_COLUMNS, unknown>>;

interface Statements {
  readonly weigh: Statement;
  readonly write: Statement;
}

const COUNTED: Statements = { weigh: sql.WEIGH_ENTRIES, write: sql.WRITE_ENTRIES };
const ONCE: Statements = { weigh: sql.WEIGH_ENTRIES_ONCE, write: sql.WRITE_ENTRIES_ONCE };

/**
 * Writes entries, always in the same order: those of problems that count each time, then those that are recorded once. The
 * last statements share the round trip of COMMIT.
 *
 * Beyond the limit of bytes of a workspace for a day, a stored entry is counted but keeps its texts; an entry that needs its
 * own row gets one without a payload; the others share one row for each day and reason.
 */
export async function recordEntries(
  transaction: Transaction,
  entries: readonly NewReviewEntry[],
  bytesPerDayMax: number,
): Promise<void> {
  for (const isOnce of [false, true]) {
    const slices = slicesOf(entries.filter(({ once }) => once === isOnce));
    for (const slice of slices) await recordSlice(transaction, slice, isOnce ? ONCE : COUNTED, bytesPerDayMax);
  }
}

async function recordSlice(
  transaction: Transaction,
  entries: readonly CountedEntry[],
  { weigh, write }: Statements,
  bytesPerDayMax: number,
): Promise<void> {
  const weights = await transaction.send<sql.EntryWeight>(weigh, [
    entries.map(({ tenantId }) => tenantId),
    entries.map(({ id }) => id),
    entries.map(({ bytes }) => bytes),
    bytesPerDayMax,
  ]);
  const weightOf = new Map(weights.map((weight) => [weight.id, weight]));
  const charged = entries.flatMap((entry) => {
    const { fits = false, growth = 0, day = '' } = weightOf.get(entry.id) ?? {};
    return fits && growth > 0 ? [{ tenantId: entry.tenantId, day, bytes: growth }] : [];
  });
  const charges = together(
    charged,
    ({ tenantId, day }) => `${tenantId} ${day}`,
    (a, b) => ({ ...a, bytes: a.bytes + b.bytes }),
  );
  if (charges.length > 0) {
    transaction.sendLast(sql.CHARGE_BYTES, [
      charges.map(({ tenantId }) => tenantId),
      charges.map(({ day }) => day),
      charges.map(({ bytes }) => bytes),
    ]);
  }
  transaction.sendLast(write, [JSON.stringify(rowsToWrite(entries, weightOf))]);
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
  return slicesBySize(sorted, STATEMENT_BYTES_MAX).map((ids) => ids.flatMap((id) => counted.get(id) ?? []));
}

function rowsToWrite(
  entries: readonly CountedEntry[],
  weightOf: ReadonlyMap<string, sql.EntryWeight>,
): readonly WrittenRow[] {
  const own: WrittenRow[] = [];
  const overLimit: SharedRow[] = [];
  for (const entry of entries) {
    const weight = weightOf.get(entry.id);
    if (weight?.fits === true) own.push(rowOf(entry));
    else if (weight?.is_known === true || needsRow(entry))
      own.push({ ...rowOf(entry), payload: null, payload_state: 'not_kept' });
    else overLimit.push(sharedRow(entry, weight?.day ?? ''));
  }
  return [...own, ...together(overLimit, ({ id }) => id, addedUp)];
}

/** A replay of a stored event needs its entry; of problems that are recorded once there are few. */
function needsRow({ once, stage }: CountedEntry): boolean {
  return once || stage === 'processing';
}

function rowOf(entry: CountedEntry): WrittenRow {
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
    occurrences: entry.occurrences,
    seen_at: new Date(entry.at).toISOString(),
  };
}

type SharedRow = WrittenRow & { readonly id: string; readonly occurrences: number; readonly seen_at: string };

/** The row that counts entries of a reason beyond the limit of a day. Its id is derived from nothing that a client sent. */
function sharedRow(
  { tenantId, severity, stage, reason, family, occurrences, at }: CountedEntry,
  day: string,
): SharedRow {
  return {
    tenant_id: tenantId,
    severity,
    stage,
    reason,
    family,
    occurrences,
    id: idOf(['counted', tenantId, day, severity, stage, reason, family]),
    message: COUNTED_MESSAGE,
    details: [],
    source: null,
    external_event_id: null,
    event_type: null,
    event_id: null,
    payload: null,
    payload_form: 'text',
    payload_state: 'not_kept',
    seen_at: new Date(at).toISOString(),
  };
}

function idOf(parts: readonly string[]): string {
  const digest = createHash('sha256').update(parts.join('/')).digest('hex').slice(0, 32).split('');
  digest[12] = '8';
  digest[16] = '8';
  return digest.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function addedUp(row: SharedRow, { occurrences, seen_at: seenAt }: SharedRow): SharedRow {
  return {
    ...row,
    occurrences: row.occurrences + occurrences,
    seen_at: row.seen_at > seenAt ? row.seen_at : seenAt,
  };
}

/** One for each key, out of those with it. */
function together<T>(items: readonly T[], keyOf: (item: T) => string, add: (sum: T, item: T) => T): T[] {
  const sums = new Map<string, T>();
  for (const item of items) {
    const sum = sums.get(keyOf(item));
    sums.set(keyOf(item), sum === undefined ? item : add(sum, item));
  }
  return [...sums.values()];
}
