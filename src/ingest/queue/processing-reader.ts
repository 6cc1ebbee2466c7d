import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import type { ProcessingView } from './processing-record';
import { EventProcessing } from './entities/event-processing.entity';
import type { EventRow } from '../store/entities/event.entity';

interface BundleRow {
  readonly id: string;
  readonly is_queued: boolean;
  readonly processed_at: Date | null;
}

/** Finds the processing records of events. */
@Injectable()
export class ProcessingReader {
  constructor(private readonly database: DataSource) {}

  /** By event; those that wait for their first attempt are missing. */
  async of(tenantId: string, events: readonly EventRow[]): Promise<Map<string, ProcessingView>> {
    // One after the other: a read takes one connection at a time.
    const own = new Map(await this.ofOwnRecords(tenantId, events));
    // An event of a bundle has a record of its own once a backfill has reached it.
    const together = events.filter(({ eventId, queueBundleId }) => queueBundleId !== null && !own.has(eventId));
    return new Map([...own, ...(await this.ofBundled(tenantId, together))]);
  }

  private async ofOwnRecords(tenantId: string, events: readonly EventRow[]): Promise<[string, ProcessingView][]> {
    if (events.length === 0) return [];
    const eventIds = events.map(({ eventId }) => eventId);
    const found = await this.database.manager.findBy(EventProcessing, { tenantId, eventId: In(eventIds) });
    return found.map((processing) => [processing.eventId, processing]);
  }

  /** A bundle is in the queue or processed. The time of its processing is kept for a while (`bundle-retention.ts`). */
  private async ofBundled(tenantId: string, events: readonly EventRow[]): Promise<[string, ProcessingView][]> {
    const ids = new Set(events.map(({ queueBundleId }) => queueBundleId));
    if (ids.size === 0) return [];
    // One statement, that is one moment: a bundle goes from one table to the other in one transaction.
    const found: BundleRow[] = await this.database.query(
      `SELECT u.id, queued.id IS NOT NULL AS is_queued, processed.processed_at
       FROM unnest($2::uuid[]) AS u (id)
       LEFT JOIN LATERAL (SELECT id FROM queued_bundles WHERE tenant_id = $1 AND id = u.id LIMIT 1) queued ON true
       LEFT JOIN LATERAL (
         SELECT processed_at FROM processed_bundles WHERE tenant_id = $1 AND id = u.id LIMIT 1
       ) processed ON true`,
      [tenantId, [...ids]],
    );
    const processed = new Map(found.filter((row) => !row.is_queued).map((row) => [row.id, row.processed_at]));
    return events.flatMap(({ eventId, queueBundleId }): [string, ProcessingView][] => {
      const processedAt = processed.get(queueBundleId ?? '');
      if (processedAt === undefined) return [];
      return [[eventId, { state: 'processed', attempts: 1, processedAt, lastError: null, reactions: [] }]];
    });
  }
}
