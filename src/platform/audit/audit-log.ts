import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { pageOf, type Page } from '../pagination/page';
import { cursorAfter, type TimeKey } from '../pagination/time-key';
import type { TimeRange } from '../pagination/time-range';
import { Clock } from '../values/clock';
import { newId } from '../values/ids';
import type { AuditActionOf, AuditKind } from './audit-kinds';
import { auditNotes, readAuditTable, type AuditTable } from './audit-table';
import { AuditLogLine } from './entities/audit-log-line.entity';

/** Who acts: the id of a credential, or a name such as `command line`; and the network address, if there is one. */
export interface AuditActor {
  readonly by: string;
  readonly address: string | null;
}

/** What was done to a record. Names no value of a person and no credential. */
export interface AuditAction<K extends AuditKind> extends AuditActor {
  readonly kind: K;
  readonly action: AuditActionOf<K>;
  /** Null: it is the only one of its kind in the workspace. */
  readonly recordId: string | null;
  /** Of the record, for the time when it is gone; or what has changed. Empty: it has none. */
  readonly name: string;
}

/** Something that was done in a workspace. */
export interface AuditEntry extends AuditActor {
  readonly id: string;
  readonly at: Date;
  readonly kind: AuditKind;
  readonly action: string;
  /** Null: the action was not on one record. */
  readonly recordId: string | null;
  /** The name of the record, or what was requested; null: neither. */
  readonly detail: string | null;
}

/** A page of the list: below `start`, newest first. */
export interface AuditPageQuery extends TimeRange {
  readonly start: TimeKey;
  readonly limit: number;
  readonly kinds: readonly AuditKind[];
  /** Entries about this record, or with unmasked data of this customer; all when undefined. */
  readonly recordId: string | undefined;
}

/** The ids of records that are the same as this one. */
type SameRecords = (tenantId: string, recordId: string) => Promise<readonly string[]>;

/**
 * Who did what in a workspace. Features register the tables of their entries when the application starts, and `note` what
 * they have no table for. Entries are never changed.
 */
@Injectable()
export class AuditLog {
  private readonly tables: AuditTable[] = [];
  private sameRecords: SameRecords = (_tenantId, recordId) => Promise.resolve([recordId]);

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
  ) {}

  register(table: AuditTable): void {
    this.tables.push(table);
  }

  /** Registers a kind whose entries come by `note`. */
  registerNotes(kind: AuditKind): void {
    this.register(auditNotes(kind));
  }

  /** Customers have several ids after merges: `same` finds all of them by one. */
  registerSameRecords(same: SameRecords): void {
    this.sameRecords = same;
  }

  /** Stores an entry in the transaction of what it tells. */
  async note<K extends AuditKind>(manager: EntityManager, tenantId: string, action: AuditAction<K>): Promise<void> {
    const line = { ...action, recordId: action.recordId ?? '' };
    await manager.insert(AuditLogLine, { tenantId, id: newId(), at: this.clock.now(), ...line });
  }

  /** One page, newest first: of each table as many entries as could be in it, by its index. */
  async list(tenantId: string, query: AuditPageQuery): Promise<Page<AuditEntry>> {
    const { start, from, to, limit, kinds, recordId } = query;
    const bounds = [start.at, start.id, timeOf(from, '-infinity'), timeOf(to, 'infinity'), limit + 1];
    const records = recordId === undefined ? [] : [await this.sameRecords(tenantId, recordId)];
    const found: AuditEntry[] = [];
    for (const table of this.tables) {
      if (!kinds.includes(table.kind)) continue;
      const statement = readAuditTable(table, { ofRecords: recordId !== undefined });
      const rows: Omit<AuditEntry, 'kind'>[] = await this.database.query(statement, [tenantId, ...bounds, ...records]);
      found.push(...rows.map((row) => ({ ...row, kind: table.kind })));
    }
    return pageOf(found.toSorted(newestFirst), limit, cursorAfter);
  }
}

function timeOf(ms: number | undefined, open: string): Date | string {
  return ms === undefined ? open : new Date(ms);
}

/** As PostgreSQL orders them: the text of UUIDs sorts as they do. */
function newestFirst(a: AuditEntry, b: AuditEntry): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}
