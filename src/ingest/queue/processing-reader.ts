import { Injectable } from '@nestjs/common';
import type { ReadRows } from '../../platform/postgres/prepared-query';
import type { Statement } from '../../platform/postgres/statement';
import type { ProcessingView } from './processing-record';
import type { ListedEvent } from '../domain/event';

interface BundleRow {
  readonly id: string;
  readonly is_queued: boolean;
  readonly processed_at: Date | null;
}

interface ProcessingRow extends ProcessingView {
  readonly eventId: string;
}

const READ_RECORDS: Statement = {
  name: 'ingest_processing_records',
  text: `
    SELECT p.event_id AS "eventId", p.state, p.attempts, p.processed_at AS "processedAt", p.last_error AS "lastError", p.reactions
    FROM unnest($2::uuid[]) AS u (event_id)
    CROSS JOIN LATERAL (SELECT * FROM event_processing WHERE tenant_id = $1 AND event_id = u.event_id LIMIT 1) p`,
};

/**
 * The sub-select hides from the planner how many ids there are. Where they are few it would otherwise plan each execution anew,
 * which costs six times what the statement does.
 */
const READ_BUNDLES: Statement = {
  name: 'ingest_processing_bundles',
  text: `
    SELECT u.id, queued.id IS NOT NULL AS is_queued, processed.processed_at
    FROM unnest((SELECT $2::uuid[])) AS u (id)
    LEFT JOIN LATERAL (SELECT id FROM queued_bundles WHERE tenant_id = $1 AND id = u.id LIMIT 1) queued ON true
    LEFT JOIN LATERAL (
      SELECT processed_at FROM processed_bundles WHERE tenant_id = $1 AND id = u.id LIMIT 1
    ) processed ON true`,
};

/** Finds the processing records of events. */
@Injectable()
export class ProcessingReader {
  /** By event; those that wait for their first attempt are missing. Sends its statements at once. */
  async of(read: ReadRows, tenantId: string, events: readonly ListedEvent[]): Promise<Map<string, ProcessingView>> {
    const [own, bundled] = await Promise.all([
      this.ofOwnRecords(read, tenantId, events),
      this.ofBundled(read, tenantId, events),
    ]);
    // An event of a bundle has a record of its own once a backfill has reached it.
    return new Map([...bundled, ...own]);
  }

  private async ofOwnRecords(
    read: ReadRows,
    tenantId: string,
    events: readonly ListedEvent[],
  ): Promise<[string, ProcessingView][]> {
    if (events.length === 0) return [];
    const eventIds = events.map(({ eventId }) => eventId);
    const found = await read<ProcessingRow>(READ_RECORDS, [tenantId, eventIds]);
    return found.map(({ eventId, ...processing }) => [eventId, processing]);
  }

  /** A bundle is in the queue or processed. The time of its processing is kept for a while (`bundle-retention.ts`). */
  private async ofBundled(
    read: ReadRows,
    tenantId: string,
    events: readonly ListedEvent[],
  ): Promise<[string, ProcessingView][]> {
    const ids = new Set(events.flatMap(({ queueBundleId }) => queueBundleId ?? []));
    if (ids.size === 0) return [];
    // One statement, that is one moment: a bundle goes from one table to the other in one transaction.
    const found = await read<BundleRow>(READ_BUNDLES, [tenantId, [...ids]]);
    const processed = new Map(found.filter((row) => !row.is_queued).map((row) => [row.id, row.processed_at]));
    return events.flatMap(({ eventId, queueBundleId }): [string, ProcessingView][] => {
      const processedAt = processed.get(queueBundleId ?? '');
      if (processedAt === undefined) return [];
      return [[eventId, { state: 'processed', attempts: 1, processedAt, lastError: null, reactions: [] }]];
    });
  }
}
