import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { pageOf, type Page } from '../pagination/page';
import { cursorAfter, type TimeKey } from '../pagination/time-key';
import type { TimeRange } from '../pagination/time-range';
import { Clock } from '../values/clock';
import { newId } from '../values/ids';
import { AuditLogLine } from './entities/audit-log-line.entity';

/** Who acts: the id of a credential, or a name such as `command line`; and the network address, if there is one. */
export interface AuditActor {
  readonly by: string;
  readonly address: string | null;
}

/** What was done to a record. Names no value of a person and no credential. */
export interface AuditAction extends AuditActor {
  readonly kind: string;
  readonly action: string;
  readonly recordId: string;
  /** Of the record, for the time when it is gone. */
  readonly name: string;
}

/** Something that was done in a workspace. */
export interface AuditEntry extends AuditActor {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly action: string;
  /** Null: the action was not on one record. */
  readonly recordId: string | null;
  /** The name of the record, or what was requested; null: neither. At most `DETAIL_CHARACTERS_MAX` characters. */
  readonly detail: string | null;
}

/** A page of the list: below `start`, newest first. */
export interface AuditPageQuery extends TimeRange {
  readonly start: TimeKey;
  readonly limit: number;
  /** All kinds when undefined. */
  readonly kind: string | undefined;
}

/**
 * Where entries of a kind are stored: a table with `tenant_id`, `by` and `address`, and SQL for the rest. `at` and `id` order
 * it; an index leads with `tenant_id`, what `where` compares, and both. All of it is ours, and nothing comes from a client.
 */
export interface AuditTable {
  readonly kind: string;
  readonly table: string;
  readonly at: string;
  readonly id: string;
  readonly action: string;
  readonly recordId: string;
  readonly detail: string;
  readonly where?: string;
}

/** A view of many customers names each of them; two hundred such entries are a page. */
const DETAIL_CHARACTERS_MAX = 1_000;

/**
 * Who did what in a workspace. Features register the tables of their entries when the application starts, and `note` what
 * they have no table for. Entries are never changed.
 */
@Injectable()
export class AuditLog {
  private readonly tables: AuditTable[] = [];

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
  ) {}

  register(table: AuditTable): void {
    this.tables.push(table);
  }

  /** Registers a kind whose entries come by `note`. */
  registerNotes(kind: string): void {
    const columns = { at: 'at', id: 'id', action: 'action', recordId: 'record_id', detail: 'name' };
    this.register({ kind, table: 'audit_log', ...columns, where: `kind = '${kind}'` });
  }

  /** Stores an entry in the transaction of what it tells. */
  async note(manager: EntityManager, tenantId: string, action: AuditAction): Promise<void> {
    await manager.insert(AuditLogLine, { tenantId, id: newId(), at: this.clock.now(), ...action });
  }

  /** One page, newest first: of each table as many entries as could be in it, by its index. */
  async list(tenantId: string, query: AuditPageQuery): Promise<Page<AuditEntry>> {
    const { start, from, to, limit, kind } = query;
    const bounds = [start.at, start.id, timeOf(from, '-infinity'), timeOf(to, 'infinity'), limit + 1];
    const found: AuditEntry[] = [];
    for (const table of this.tables) {
      if (kind !== undefined && kind !== table.kind) continue;
      const rows: Omit<AuditEntry, 'kind'>[] = await this.database.query(readAuditTable(table), [tenantId, ...bounds]);
      found.push(...rows.map((row) => ({ ...row, kind: table.kind })));
    }
    return pageOf(found.toSorted(newestFirst), limit, cursorAfter);
  }
}

/**
 * The newest entries of a table. Parameters: $1 workspace, $2 and $3 the key below which they are, $4 and $5 from when on and
 * before when, $6 entries.
 */
export function readAuditTable({ table, at, id, action, recordId, detail, where = 'true' }: AuditTable): string {
  return `
    SELECT ${id} AS id, ${at} AS at, ${action} AS action, (${recordId})::text AS "recordId",
      left(${detail}, ${DETAIL_CHARACTERS_MAX}) AS detail, by, address
    FROM ${table}
    WHERE tenant_id = $1 AND ${where} AND ${at} > '-infinity' AND (${at}, ${id}) < ($2::timestamptz, $3::uuid)
      AND ${at} >= $4::timestamptz AND ${at} < $5::timestamptz
    ORDER BY ${at} DESC, ${id} DESC LIMIT $6`;
}

function timeOf(ms: number | undefined, open: string): Date | string {
  return ms === undefined ? open : new Date(ms);
}

/** As PostgreSQL orders them: the text of UUIDs sorts as they do. */
function newestFirst(a: AuditEntry, b: AuditEntry): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}
