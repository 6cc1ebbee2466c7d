import type { AuditActionOf, AuditKind } from './audit-kinds';

/**
 * Where entries of a kind are stored: a table with `tenant_id`, `by` and `address`, and SQL for the rest. `at` and `id`
 * order it; an index leads with `tenant_id`, what `where` compares, and both. All of it is ours, and nothing comes from
 * a client.
 */
export interface AuditTable {
  readonly kind: AuditKind;
  readonly table: string;
  readonly at: string;
  readonly id: string;
  readonly action: string;
  readonly recordId: string;
  readonly detail: string;
  readonly where?: string;
  /** Entries about one record, `record.id`: the condition, and another source of rows where the table cannot tell. */
  readonly ofRecord: { readonly where: string; readonly table?: string };
}

/** SQL for the actions of a kind; it makes the compiler check them. */
export function auditAction<K extends AuditKind>(_kind: K, action: AuditActionOf<K>): string {
  return `'${action}'`;
}

/** The entries that features `note`. */
export function auditNotes(kind: AuditKind): AuditTable {
  return {
    kind,
    table: 'audit_log',
    at: 'at',
    id: 'id',
    action: 'action',
    recordId: `nullif(record_id, '')`,
    detail: `nullif(name, '')`,
    where: `kind = '${kind}'`,
    ofRecord: { where: 'record_id = record.id::text' },
  };
}

/** A view of many customers names each of them; two hundred such entries are a page. */
const DETAIL_CHARACTERS_MAX = 1_000;

/**
 * The newest entries of a table. Parameters: $1 workspace, $2 and $3 the key below which they are, $4 and $5 from when
 * on and before when, $6 entries; with `ofRecords` $7, the ids of the records that they are about.
 */
export function readAuditTable(table: AuditTable, { ofRecords }: { readonly ofRecords: boolean }): string {
  const { at, id, action, recordId, detail, where = 'true', ofRecord } = table;
  const page = `
    SELECT ${id} AS id, ${at} AS at, ${action} AS action, (${recordId})::text AS "recordId",
      left(${detail}, ${DETAIL_CHARACTERS_MAX}) AS detail, by, address
    FROM ${ofRecords ? (ofRecord.table ?? table.table) : table.table}
    WHERE tenant_id = $1 AND ${where} AND ${ofRecords ? ofRecord.where : 'true'}
      AND ${at} > '-infinity' AND (${at}, ${id}) < ($2::timestamptz, $3::uuid)
      AND ${at} >= $4::timestamptz AND ${at} < $5::timestamptz
    ORDER BY ${at} DESC, ${id} DESC LIMIT $6`;
  if (!ofRecords) return page;
  // A page of each record: the index has them in this order for one record only. One entry may be about several of them.
  return `
    SELECT DISTINCT ON (entry.at, entry.id) entry.* FROM unnest($7::uuid[]) AS record (id) CROSS JOIN LATERAL (${page}) entry
    ORDER BY entry.at DESC, entry.id DESC LIMIT $6`;
}
