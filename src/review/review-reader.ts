import { Injectable } from '@nestjs/common';
import { DataSource, In, type SelectQueryBuilder } from 'typeorm';
import { DomainError } from '../platform/errors/domain-error';
import { isUuid } from '../platform/values/uuid';
import { ROWS_LOOKED_AT_MAX, type Page } from '../platform/pagination/page';
import { pageThatFits, type LargeRows } from '../platform/pagination/page-bytes';
import { cursorAfter, type TimeKey } from '../platform/pagination/time-key';
import type { StoredEntry } from './domain/review-entry';
import type { ReviewFilter } from './domain/review-filter';
import { ReviewEntry } from './entities/review-entry.entity';
import {
  fitsValues,
  HAS_MORE_ENTRIES,
  READ_OF_FEW,
  READ_OF_NEAREST,
  statusesOf,
  type LookedAt,
} from './review-page.sql';

/** An entry for a view. */
export interface ShownEntry {
  readonly entry: ReviewEntry;
  /** Whether `entry.payload` is only the beginning of the stored payload. */
  readonly isCut: boolean;
}

/** A list shows the beginning of payloads: with whole ones of refused batches, a page could have a gigabyte. */
const LISTED_PAYLOAD_CHARACTERS_MAX = 4_096;
/** A single entry shows every event of the default size, and as much of a batch as can be parsed in 20 ms. */
const SHOWN_PAYLOAD_CHARACTERS_MAX = 256 * 1024;

/** The bytes of an entry in a list. An entry about a batch may have a thousand faults. */
const LISTED_ENTRIES: LargeRows = {
  table: 'review_entries',
  scope: ['tenant_id'],
  id: 'id',
  idType: 'uuid',
  bytes: `512 + octet_length(r.message) + octet_length(r.details::text)
    + coalesce(octet_length(left(r.payload, ${LISTED_PAYLOAD_CHARACTERS_MAX})), 0)
    + coalesce(octet_length(r.resolution::text), 0)`,
};

/** The bytes of an entry with its whole payload. PostgreSQL knows the length without decompressing it. */
export const WHOLE_ENTRIES: LargeRows = {
  table: 'review_entries',
  scope: ['tenant_id'],
  id: 'id',
  idType: 'uuid',
  bytes: `512 + octet_length(r.message) + octet_length(r.details::text) + coalesce(octet_length(r.payload), 0)`,
};

/** Reads review entries. */
@Injectable()
export class ReviewReader {
  constructor(private readonly database: DataSource) {}

  /** The entry with its whole payload. Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ReviewEntry> {
    const entry = isUuid(id) ? await this.database.manager.findOneBy(ReviewEntry, { tenantId, id }) : null;
    if (entry === null) throw noSuchEntry();
    return entry;
  }

  /** The entry as `GET /v1/review-entries/{id}` shows it. Throws `not_found`. */
  async getShown(tenantId: string, id: string): Promise<ShownEntry> {
    const [found] = isUuid(id) ? await this.beginningsOf(tenantId, [id], SHOWN_PAYLOAD_CHARACTERS_MAX) : [];
    if (found === undefined) throw noSuchEntry();
    return found;
  }

  /** The entries that exist, with their whole payloads, in any order. */
  getAll(tenantId: string, ids: readonly string[]): Promise<StoredEntry[]> {
    return this.database.manager.findBy(ReviewEntry, { tenantId, id: In([...ids]) });
  }

  /** The bytes of the payloads of the entries that exist, in the order of `ids`. */
  async sizesOf(tenantId: string, ids: readonly string[]): Promise<{ id: string; bytes: number }[]> {
    return this.database.query(
      `SELECT e.id, coalesce(octet_length(e.payload), 0) AS bytes
       FROM unnest($2::uuid[]) WITH ORDINALITY AS u (id, position)
       CROSS JOIN LATERAL (SELECT id, payload FROM review_entries WHERE tenant_id = $1 AND id = u.id LIMIT 1) e
       ORDER BY u.position`,
      [tenantId, ids],
    );
  }

  /**
   * One page, newest first. The order is by first occurrence, so that a further occurrence moves no entry to another
   * page. It looks at 20,000 entries at most (docs/adr/0012): it may be short or empty, with a cursor that goes on where
   * it stopped.
   */
  async list(tenantId: string, filter: ReviewFilter, start: TimeKey, limit: number): Promise<Page<ShownEntry>> {
    const rows = await this.lookAt(tenantId, filter, start, limit);
    const page = await pageThatFits(this.database, LISTED_ENTRIES, [tenantId], {
      found: rows.filter(({ fits }) => fits),
      limit,
      nameOf: ({ id }) => id,
      cursorAfter,
    });
    const ids = page.rows.map(({ id }) => id);
    const last = rows.find(({ isLast }) => isLast);
    return {
      rows: await this.beginningsOf(tenantId, ids, LISTED_PAYLOAD_CHARACTERS_MAX),
      nextCursor: page.nextCursor ?? (last === undefined ? null : cursorAfter(last)),
    };
  }

  /**
   * The entries of a page and the next one. A page that could not be filled from the newest rows is read from an index
   * if it can find all of its entries there; else its last row is the last one looked at.
   */
  private async lookAt(tenantId: string, filter: ReviewFilter, start: TimeKey, limit: number): Promise<LookedAt[]> {
    const values = [tenantId, start.at, start.id, ...fitsValues(filter)];
    const isFiltered = FILTER_FIELDS.some((field) => filter[field] !== undefined);
    // Unfiltered, every row fits: one more than the page shows that there is a next one.
    const rowsMax = isFiltered ? ROWS_LOOKED_AT_MAX : limit + 1;
    const nearest: LookedAt[] = await this.database.query(READ_OF_NEAREST, [...values, limit + 1, rowsMax]);
    const isFound = nearest.length > limit || !nearest.some(({ isLast }) => isLast);
    if (isFound || !(await this.isOfFew(tenantId, filter))) return nearest;
    return this.database.query(READ_OF_FEW, [...values, limit + 1]);
  }

  /** Whether so few entries have the filter's status and reason that a page can look at them all. */
  private async isOfFew(tenantId: string, filter: ReviewFilter): Promise<boolean> {
    if (filter.status === undefined && filter.reason === undefined) return false;
    const values = [tenantId, statusesOf(filter), filter.reason ?? null, ROWS_LOOKED_AT_MAX];
    const [row]: { hasMore: boolean }[] = await this.database.query(HAS_MORE_ENTRIES, values);
    return row?.hasMore === false;
  }

  /** Entries in the order of `ids`, each with the first `characters` characters of its payload. */
  private async beginningsOf(tenantId: string, ids: readonly string[], characters: number): Promise<ShownEntry[]> {
    if (ids.length === 0) return [];
    const { entities, raw } = await this.database.manager
      .createQueryBuilder(ReviewEntry, 'entry')
      .where('entry.tenantId = :tenantId', { tenantId })
      .andWhere('entry.id = ANY (:ids)', { ids })
      .select(COLUMNS_LISTED.map((column) => `entry.${column}`))
      .addSelect('left(entry.payload, :characters)', 'beginning')
      .addSelect('octet_length(entry.payload)', 'bytes')
      .setParameter('characters', characters)
      .getRawAndEntities<{ beginning: string | null; bytes: number | null }>();
    const found = entities.map((entry, index): [string, ShownEntry] => {
      const { beginning = null, bytes = null } = raw[index] ?? {};
      const isCut = beginning !== null && Buffer.byteLength(beginning) < (bytes ?? 0);
      return [entry.id, { entry: Object.assign(entry, { payload: beginning }), isCut }];
    });
    const byId = new Map(found);
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** How many entries match. Scans their part of an index. */
  async count(tenantId: string, filter: ReviewFilter): Promise<number> {
    const row = await this.filtered(tenantId, filter).select('count(*)::int', 'count').getRawOne<{ count: number }>();
    return row?.count ?? 0;
  }

  /**
   * The ids of the refusals that match, at most `limit`, oldest first, in the order in which their events were
   * received. With `sources` only those of these sources.
   */
  async refusalsMatching(
    tenantId: string,
    filter: ReviewFilter,
    sources: ReadonlySet<string> | null,
    limit: number,
  ): Promise<string[]> {
    const query = this.filtered(tenantId, filter).select('entry.id', 'id').andWhere("entry.severity = 'error'");
    // An entry that only counts contains no event. One of processing without an event is about a webhook.
    query.andWhere("(entry.payloadState IS DISTINCT FROM 'not_kept' OR entry.stage = 'processing')");
    query.andWhere("(entry.stage <> 'processing' OR entry.eventId IS NOT NULL)");
    if (sources !== null) query.andWhere('entry.source = ANY(:sources)', { sources: [...sources] });
    const rows = await query
      .orderBy({ 'entry.firstSeenAt': 'ASC', 'entry.id': 'ASC' })
      .limit(limit)
      .getRawMany<{ id: string }>();
    return rows.map(({ id }) => id);
  }

  private filtered(tenantId: string, filter: ReviewFilter): SelectQueryBuilder<ReviewEntry> {
    const query = this.database.manager
      .createQueryBuilder(ReviewEntry, 'entry')
      .where('entry.tenantId = :tenantId', { tenantId })
      // Always true; lets PostgreSQL use the partial indexes.
      .andWhere("entry.firstSeenAt > '-infinity'");
    for (const field of FILTER_FIELDS) {
      const value = filter[field];
      if (value !== undefined) query.andWhere(`entry.${field} = :${field}`, { [field]: value });
    }
    return query;
  }
}

function noSuchEntry(): DomainError {
  return new DomainError('not_found', 'There is no review entry with this id in this workspace.');
}

/** The fields of a filter. The entity has a column of the same name for each. */
const FILTER_FIELDS = Object.keys({
  status: true,
  stage: true,
  reason: true,
  source: true,
  eventType: true,
} satisfies Record<keyof ReviewFilter & keyof ReviewEntry, true>) as (keyof ReviewFilter)[];

/** All columns except the payload. */
const COLUMNS_LISTED = [
  'tenantId',
  'id',
  'severity',
  'stage',
  'reason',
  'message',
  'details',
  'family',
  'source',
  'externalEventId',
  'eventType',
  'eventId',
  'payloadForm',
  'payloadState',
  'occurrences',
  'firstSeenAt',
  'lastSeenAt',
  'status',
  'resolution',
] as const satisfies (keyof ReviewEntry)[];
