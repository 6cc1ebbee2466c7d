import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SHARDS } from '../ingest/queue/event-queue';

/** The backlog of a workspace, and its throughput. */
export interface QueueSummary {
  /** Events that are not processed yet, parked ones included. */
  readonly queued: number;
  readonly oldestQueuedAt: Date | null;
  /** In the last 50 to 60 seconds: counters are ten seconds long. */
  readonly processedLastMinute: number;
}

/** The backlog of all workspaces. */
export interface Backlog extends QueueSummary {
  /** Of the queued events, those that will be retried, and later ones of their profiles. */
  readonly parked: number;
  /** Processed events with a reaction that waits for the customer; counted up to `WAITING_COUNTED_MAX`. */
  readonly waitingForCustomer: number;
}

/** There may be millions; counting this many takes some 10 ms. */
const WAITING_COUNTED_MAX = 100_000;

interface StatisticsRow {
  readonly queued: string;
  readonly oldest: Date | null;
  readonly processed: string | null;
}

/** Counts waiting and processed events, for operators and monitoring. */
@Injectable()
export class QueueStatistics {
  constructor(private readonly database: DataSource) {}

  /**
   * The summary of one workspace; `failed`: for good, and not replayed since. Reads the keys of queued and failed
   * events only: some 100 ms for a million queued events.
   */
  async summary(tenantId: string): Promise<QueueSummary & { readonly failed: number }> {
    const [row]: (StatisticsRow & { failed: string })[] = await this.database.query(
      `SELECT
         (SELECT count(*) FROM event_queue WHERE tenant_id = $1)
           + (SELECT coalesce(sum(events), 0) FROM queued_bundles WHERE tenant_id = $1)
           + (SELECT count(*) FROM parked_events WHERE tenant_id = $1 AND queued_at > '-infinity') AS queued,
         least(
           (SELECT min(first.queued_at) FROM unnest($2::smallint[]) AS s (shard) CROSS JOIN LATERAL (
              SELECT queued_at FROM event_queue WHERE tenant_id = $1 AND shard = s.shard AND released_at IS NULL
              ORDER BY queued_at LIMIT 1
            ) first),
           (SELECT min(first.released_at) FROM unnest($2::smallint[]) AS s (shard) CROSS JOIN LATERAL (
              SELECT released_at FROM event_queue WHERE tenant_id = $1 AND shard = s.shard ORDER BY queued_at LIMIT 1
            ) first),
           (SELECT min(queued_at) FROM queued_bundles WHERE tenant_id = $1),
           (SELECT min(queued_at) FROM parked_events WHERE tenant_id = $1 AND queued_at > '-infinity')
         ) AS oldest,
         (SELECT sum(processed) FROM processing_counts
          WHERE tenant_id = $1 AND started_at > clock_timestamp() - interval '1 minute') AS processed,
         (SELECT count(*) FROM event_processing WHERE tenant_id = $1 AND state = 'failed') AS failed`,
      [tenantId, SHARDS],
    );
    if (row === undefined) throw new Error('The statement of the queue statistics returned no row');
    return { ...summaryOf(row), failed: Number(row.failed) };
  }

  /** The backlog of all workspaces. It counts the whole queue, so call it every few seconds at most. */
  async read(): Promise<Backlog> {
    const [row]: (StatisticsRow & { parked: string; waiting_for_customer: string })[] = await this.database.query(
      `WITH waiting AS (
         SELECT count(*) AS queued, 0 AS parked, min(coalesce(released_at, queued_at)) AS oldest FROM event_queue
         UNION ALL
         SELECT coalesce(sum(events), 0), 0, min(queued_at) FROM queued_bundles
         UNION ALL
         SELECT count(*), count(*), min(queued_at) FROM parked_events
       )
       SELECT sum(queued) AS queued, sum(parked) AS parked, min(oldest) AS oldest,
         (SELECT sum(processed) FROM processing_counts
          WHERE started_at > clock_timestamp() - interval '1 minute') AS processed,
         (SELECT count(*) FROM (SELECT 1 FROM waiting_events LIMIT $1) AS counted) AS waiting_for_customer
       FROM waiting`,
      [WAITING_COUNTED_MAX],
    );
    if (row === undefined) throw new Error('The statement of the queue statistics returned no row');
    return { ...summaryOf(row), parked: Number(row.parked), waitingForCustomer: Number(row.waiting_for_customer) };
  }
}

function summaryOf({ queued, oldest, processed }: StatisticsRow): QueueSummary {
  return { queued: Number(queued), oldestQueuedAt: oldest, processedLastMinute: Number(processed ?? 0) };
}
