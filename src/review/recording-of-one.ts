import { createHash } from 'node:crypto';
import type { Statement, Transaction } from '../platform/postgres/pipelined-connection';
import type { NewReviewEntry } from './domain/review-entry';
import { recordingOf } from './recording';
import * as sql from './review.sql';

/** The columns of an entry that this step changes or groups by. */
interface EntryColumns {
  readonly tenant_id: string;
  readonly id: string;
  readonly severity: string;
  readonly stage: string;
  readonly reason: string;
  readonly family: string;
  readonly payload_form: string;
  readonly keeps_row: boolean;
  readonly occurrences: number;
  readonly seen_at: string;
}

interface Weight {
  readonly id: string;
  readonly day: string;
  readonly fits: boolean;
  readonly is_known: boolean;
  readonly growth: number;
}

/**
 * Writes entries of one workspace as `RECORD_ENTRIES` does, in three steps: weigh them, charge the workspace, write
 * them. For a distributed database, which takes no statement that changes two tables.
 */
export async function recordOneByOne(
  transaction: Transaction,
  entries: readonly NewReviewEntry[],
  bytesPerDayMax: number,
): Promise<void> {
  for (const { statement, rows } of recordingOf(entries)) {
    const isOnce = statement === sql.RECORD_ENTRIES_ONCE;
    const weigh: Statement = isOnce ? sql.WEIGH_ENTRIES_ONCE : sql.WEIGH_ENTRIES;
    const weights = await transaction.send<Weight>(weigh, [rows, bytesPerDayMax]);
    const written = rowsToWrite(JSON.parse(rows) as EntryColumns[], weights);
    const charged = weights.reduce((sum, { fits, growth }) => (fits ? sum + growth : sum), 0);
    const [first] = written;
    if (first === undefined) continue;
    await Promise.all([
      charged > 0 && transaction.send(sql.CHARGE_BYTES, [first.tenant_id, weights[0]?.day, charged]),
      transaction.send(isOnce ? sql.WRITE_ENTRIES_ONCE : sql.WRITE_ENTRIES, [JSON.stringify(written)]),
    ]);
  }
}

/** The rows to write: beyond the limit without payloads, and those that share one row for each day and reason. */
function rowsToWrite(rows: readonly EntryColumns[], weights: readonly Weight[]): EntryColumns[] {
  const weightOf = new Map(weights.map((weight) => [weight.id, weight]));
  const written: EntryColumns[] = [];
  const counted = new Map<string, EntryColumns>();
  for (const row of rows) {
    const weight = weightOf.get(row.id);
    if (weight?.fits === true) written.push(row);
    else if (weight?.is_known === true || row.keeps_row)
      written.push({ ...row, payload: null, payload_state: 'not_kept' } as EntryColumns);
    else {
      const shared = sharedRow(row, weight?.day ?? '');
      const known = counted.get(shared.id);
      const occurrences = row.occurrences + (known?.occurrences ?? 0);
      const seenAt = known !== undefined && known.seen_at > row.seen_at ? known.seen_at : row.seen_at;
      counted.set(shared.id, { ...shared, occurrences, seen_at: seenAt });
    }
  }
  return [...written, ...counted.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The row that entries beyond the limit share; its id is derived as `RECORD_ENTRIES` does. */
function sharedRow({ tenant_id, severity, stage, reason, family, occurrences, seen_at }: EntryColumns, day: string) {
  const parts = ['counted', tenant_id, day, severity, stage, reason, family];
  const digest = createHash('sha256').update(parts.join('/')).digest('hex').slice(0, 32).split('');
  digest[12] = '8';
  digest[16] = '8';
  const id = digest.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const texts = {
    message: sql.COUNTED_MESSAGE,
    details: [],
    payload: null,
    payload_form: 'text',
    payload_state: 'not_kept',
  };
  return { tenant_id, id, severity, stage, reason, family, occurrences, seen_at, keeps_row: false, ...texts };
}
