import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics, type MetricSample } from '../../platform/observability/metrics';
import type { CallResult } from './webhook-client';

/** Queues that are counted at most, so that a scrape stays cheap. */
const COUNTED_MAX = 100_000;

/**
 * $1: how many queues to count. A queue is as old as its next delivery. What waits for a disabled endpoint waits as its
 * owner wants it to, and is counted without its age.
 */
const READ_BACKLOG = `
  SELECT count(*)::int AS queues,
    coalesce(extract(epoch FROM clock_timestamp() - min(q.since) FILTER (WHERE e.enabled)), 0)::float8 AS seconds
  FROM (
    SELECT tenant_id, endpoint_id, to_timestamp(done_seq / 1000000.0) AS since
    FROM webhook_queues WHERE due_at > '-infinity' LIMIT $1
  ) q
  LEFT JOIN webhook_endpoints e ON e.tenant_id = q.tenant_id AND e.id = q.endpoint_id`;

/** The metrics of webhooks. They name no workspace, endpoint or host. */
@Injectable()
export class DeliveryMetrics {
  private readonly attempts;
  private readonly seconds;

  constructor(
    metrics: Metrics,
    private readonly database: DataSource,
  ) {
    this.attempts = metrics.counter({
      name: 'cds_webhook_attempts_total',
      help: 'Attempts to deliver events to webhooks, by outcome',
      labels: ['outcome'],
    });
    this.seconds = metrics.histogram({
      name: 'cds_webhook_attempt_seconds',
      help: 'Time of an attempt to deliver an event to a webhook',
    });
    metrics.gauge(
      {
        name: 'cds_webhook_queues',
        help: 'Customers that a webhook has deliveries for, each endpoint by itself, counted up to 100,000',
        together: 'max',
      },
      async () => (await this.backlog()).slice(0, 1),
    );
    metrics.gauge(
      {
        name: 'cds_webhook_oldest_seconds',
        help: 'Time since the last progress of the customer that waits longest for a webhook that is enabled',
        together: 'max',
      },
      async () => (await this.backlog()).slice(1),
    );
  }

  countAttempt({ outcome, durationMs }: CallResult): void {
    this.attempts.inc({ outcome });
    this.seconds.observe(durationMs / 1_000);
  }

  /** The number of queues, and the age of the oldest. */
  private async backlog(): Promise<readonly MetricSample[]> {
    const rows: { queues: number; seconds: number }[] = await this.database.query(READ_BACKLOG, [COUNTED_MAX]);
    const [{ queues, seconds } = { queues: 0, seconds: 0 }] = rows;
    return [
      { labels: {}, value: queues },
      { labels: {}, value: Math.max(0, seconds) },
    ];
  }
}
