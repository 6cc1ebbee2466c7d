import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SHARDS } from '../ingest/queue/event-queue';

/** How processing keeps up. */
export interface QueueSummary {
  /** Events that wait for their effects, those included that will be tried again. */
  readonly queued: number;
  readonly oldestQueuedAt: Date | null;
  /** Of the last 50 to 60 seconds: it is counted in tens. */
  readonly processedLastMinute: number;
}

/** What waits, over all processes and workspaces. */
export interface Backlog extends QueueSummary {
  /** Of the queued ones, those that will be tried again and those behind them. */
  readonly parked: number;
  /** Processed events with a reaction that waits for their customer; counted up to `WAITING_COUNTED_MAX`. */
  readonly waitingForCustomer: number;
}

/** There may be millions; counting so many takes some 10 ms. */
const WAITING_COUNTED_MAX = 100_000;

interface FigureRow {
  readonly queued: string;
  readonly oldest: Date | null;
  readonly processed: string | null;
}

/** Counts what waits and what is done, for people and for monitoring. */
@Injectable()
export class QueueStatistics {
  constructor(private readonly database: DataSource) {}

  /**
   * Of one workspace; `failed`: for good, and not replayed since. Reads the keys of what is queued and of what has failed and
   * nothing of what was processed: some 100 ms for a million queued events.
   */
  async summary(tenantId: string): Promise<QueueSummary & { readonly failed: number }> {
    const [row]: (FigureRow & { failed: string })[] = await this.database.query(
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
    if (row === undefined) throw new Error('A statement that always has a row had none');
    return { ...figureOf(row), failed: Number(row.failed) };
  }

  /** Of all workspaces together. Counts the whole queue: for every few seconds. */
  async read(): Promise<Backlog> {
    const [row]: (FigureRow & { parked: string; waiting_for_customer: string })[] = await this.database.query(
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
    if (row === undefined) throw new Error('A statement that always has a row had none');
    return { ...figureOf(row), parked: Number(row.parked), waitingForCustomer: Number(row.waiting_for_customer) };
  }
}

function figureOf({ queued, oldest, processed }: FigureRow): QueueSummary {
  return { queued: Number(queued), oldestQueuedAt: oldest, processedLastMinute: Number(processed ?? 0) };
}
