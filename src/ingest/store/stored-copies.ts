import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { queryOf } from '../../platform/postgres/one-workspace';
import type { CheckedEvent, Sender } from '../domain/checked-event';
import { unseenDuplicateResult, ERASED_HASH, OTHER_THAN_EXPIRED } from '../domain/deduplication';
import type { IngestResult, StoredResult } from '../domain/ingest-result';
import { eventIdOfSubmission } from '../domain/review-problems';
import { FIND_EVENTS, type FoundEventRow } from './event.sql';

/**
 * Finds refused events that are copies of stored ones. An id that is stored is answered `duplicate`, whatever is wrong
 * with the copy now: a stricter version of its type, a changed list of sources (contract section 3). One query for a
 * batch, and none where nothing is refused.
 */
@Injectable()
export class StoredCopies {
  constructor(
    private readonly database: DataSource,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  /**
   * The same events in their order; a refused one whose id is stored has lost its refusal. A well-formed one is stored
   * like the others, which answers `duplicate`. Any other says something else than the stored event, and has its result.
   */
  async recognize({ tenantId }: Sender, checked: readonly CheckedEvent[]): Promise<readonly CheckedEvent[]> {
    const ids = new Map<CheckedEvent, string>();
    for (const each of checked) {
      const eventId = each.refusal === undefined ? undefined : idOf(tenantId, each);
      if (eventId !== undefined) ids.set(each, eventId);
    }
    const stored = await this.storedAmong(tenantId, [...new Set(ids.values())]);
    return checked.map((each): CheckedEvent => {
      const eventId = ids.get(each) ?? '';
      const storedHash = stored.get(eventId);
      if (storedHash === undefined) return each;
      const { submission, event } = each;
      if (event !== undefined) return { submission, event };
      return { submission, result: unseenDuplicateResult(eventId, storedHash, undefined) };
    });
  }

  /** By id, the content hashes of those that are stored or have expired, in comparison with a malformed copy. */
  async storedAmong(tenantId: string, eventIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (eventIds.length === 0) return new Map();
    const tenants = eventIds.map(() => tenantId);
    const query = queryOf(FIND_EVENTS, [tenants, eventIds], this.connection);
    const rows: FoundEventRow[] = await this.database.query(...query);
    return new Map(rows.map((row) => [eventIds[Number(row.position) - 1] ?? '', storedHashOf(row)]));
  }
}

function storedHashOf(row: FoundEventRow): string {
  if (row.has_expired) return row.content_check === null ? ERASED_HASH : OTHER_THAN_EXPIRED;
  return row.content_hash.toString('base64');
}

/**
 * The refused events of a batch that come behind one of the same id that is not refused: what they are answered depends
 * on whether that one is stored.
 */
export function refusedBehindEvents(tenantId: string, checked: readonly CheckedEvent[]): ReadonlySet<CheckedEvent> {
  const behind = new Set<CheckedEvent>();
  const earlier = new Set<string>();
  for (const each of checked) {
    if (each.refusal !== undefined) {
      if (earlier.has(idOf(tenantId, each) ?? '')) behind.add(each);
    } else if (each.event !== undefined) earlier.add(each.event.eventId);
  }
  return behind;
}

/** The same results; each of `behind` whose event is stored now is a duplicate of it. */
export function answerAsDuplicates(
  tenantId: string,
  checked: readonly CheckedEvent[],
  behind: ReadonlySet<CheckedEvent>,
  results: readonly IngestResult[],
): readonly IngestResult[] {
  if (behind.size === 0) return results;
  const stored = new Map<string, StoredResult>();
  for (const result of results) if (result.status !== 'error') stored.set(result.eventId, result);
  return results.map((result, index) => {
    const each = checked[index];
    if (each === undefined || !behind.has(each)) return result;
    const original = stored.get(idOf(tenantId, each) ?? '');
    if (original === undefined) return result;
    return unseenDuplicateResult(original.eventId, original.storedHash, each.event?.contentHash);
  });
}

function idOf(tenantId: string, { event, submission }: CheckedEvent): string | undefined {
  return event?.eventId ?? eventIdOfSubmission(tenantId, submission);
}
