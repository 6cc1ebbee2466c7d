import { Injectable } from '@nestjs/common';
import { DataSource, In, type SelectQueryBuilder } from 'typeorm';
import { DomainError } from '../platform/errors/domain-error';
import { isUuid } from '../platform/ids/uuid';
import { pageOf, type Page } from '../platform/pagination/page';
import { cursorAfter, type TimeKey } from '../platform/pagination/time-key';
import type { KeptEntry } from './domain/kept-entry';
import type { ReviewStatus } from './domain/review-entry';
import { ReviewEntry } from './entities/review-entry.entity';

export interface ReviewFilter {
  readonly status?: ReviewStatus | undefined;
  readonly reason?: string | undefined;
  readonly source?: string | undefined;
  readonly eventType?: string | undefined;
}

/** An entry of a list: of its payload the beginning, or all of it. */
export interface ListedEntry {
  readonly entry: ReviewEntry;
  readonly isCut: boolean;
}

/** A page of 200 entries then weighs a megabyte at most, where whole payloads of refused batches would be a gigabyte. */
export const LISTED_PAYLOAD_CHARACTERS_MAX = 4_096;

/** Finds what is kept in the review area. */
@Injectable()
export class ReviewReader {
  constructor(private readonly database: DataSource) {}

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ReviewEntry> {
    const entry = isUuid(id) ? await this.database.manager.findOneBy(ReviewEntry, { tenantId, id }) : null;
    if (entry === null) throw new DomainError('not_found', 'There is no review entry with this id in this workspace.');
    return entry;
  }

  /** Those of the entries that are there, in no order. */
  getAll(tenantId: string, ids: readonly string[]): Promise<KeptEntry[]> {
    return this.database.manager.findBy(ReviewEntry, { tenantId, id: In([...ids]) });
  }

  /** What the payloads weigh of those entries that are there, in the order of the ids. */
  async sizesOf(tenantId: string, ids: readonly string[]): Promise<{ id: string; bytes: number }[]> {
    return this.database.query(
      `SELECT e.id, coalesce(octet_length(e.payload), 0) AS bytes
       FROM unnest($2::uuid[]) WITH ORDINALITY AS u (id, position)
       JOIN review_entries e ON e.tenant_id = $1 AND e.id = u.id
       ORDER BY u.position`,
      [tenantId, ids],
    );
  }

  /** One page, newest first, by when the problem was first seen: counting it up moves no entry to another page. */
  async list(tenantId: string, filter: ReviewFilter, start: TimeKey, limit: number): Promise<Page<ListedEntry>> {
    const query = this.filtered(tenantId, filter)
      .select(COLUMNS_LISTED.map((column) => `entry.${column}`))
      .addSelect('left(entry.payload, :characters)', 'beginning')
      .addSelect('octet_length(entry.payload)', 'bytes')
      .setParameter('characters', LISTED_PAYLOAD_CHARACTERS_MAX)
      .andWhere('(entry.firstSeenAt, entry.id) < (:at, :id)', start)
      .orderBy({ 'entry.firstSeenAt': 'DESC', 'entry.id': 'DESC' })
      // One more than the page shows that there is a next one.
      .limit(limit + 1);
    const { entities, raw } = await query.getRawAndEntities<{ beginning: string | null; bytes: number | null }>();
    const found = entities.map((entry, index): ListedEntry => {
      const { beginning = null, bytes = null } = raw[index] ?? {};
      const isCut = beginning !== null && Buffer.byteLength(beginning) < (bytes ?? 0);
      return { entry: Object.assign(entry, { payload: beginning }), isCut };
    });
    return pageOf(found, limit, ({ entry: { firstSeenAt: at, id } }) => cursorAfter({ at, id }));
  }

  /** The ids of the refusals that fit, at most so many, the oldest first: the order in which their events came. */
  async refusalsMatching(tenantId: string, filter: ReviewFilter, most: number): Promise<string[]> {
    const rows = await this.filtered(tenantId, filter)
      .select('entry.id', 'id')
      .andWhere("entry.severity = 'error'")
      .orderBy({ 'entry.firstSeenAt': 'ASC', 'entry.id': 'ASC' })
      .limit(most)
      .getRawMany<{ id: string }>();
    return rows.map(({ id }) => id);
  }

  private filtered(
    tenantId: string,
    { status, reason, source, eventType }: ReviewFilter,
  ): SelectQueryBuilder<ReviewEntry> {
    const query = this.database.manager
      .createQueryBuilder(ReviewEntry, 'entry')
      .where('entry.tenantId = :tenantId', { tenantId })
      // Always so, and the condition of the indexes.
      .andWhere("entry.firstSeenAt > '-infinity'");
    if (status !== undefined) query.andWhere('entry.status = :status', { status });
    if (reason !== undefined) query.andWhere('entry.reason = :reason', { reason });
    if (source !== undefined) query.andWhere('entry.source = :source', { source });
    if (eventType !== undefined) query.andWhere('entry.eventType = :eventType', { eventType });
    return query;
  }
}

/** All but the payload. */
const COLUMNS_LISTED = [
  ...['tenantId', 'id', 'severity', 'stage', 'reason', 'message', 'details', 'family', 'source', 'externalEventId'],
  ...['eventType', 'eventId', 'payloadForm', 'occurrences', 'firstSeenAt', 'lastSeenAt', 'status', 'resolution'],
] as const satisfies (keyof ReviewEntry)[];
