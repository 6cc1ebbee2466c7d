import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics, type MetricSample } from './metrics';

/** The counters of a pool of `pg`. */
export interface ConnectionPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** Exports how many connections each pool has in use and idle, and how many queries wait for one. */
@Injectable()
export class ConnectionMetrics {
  private readonly pools = new Map<string, () => ConnectionPool | undefined>();

  constructor(metrics: Metrics, database: DataSource) {
    // TypeORM exposes its pool without a type.
    const { driver } = database as unknown as { driver: { master?: ConnectionPool } };
    this.watch('requests', () => driver.master);
    metrics.gauge(
      {
        name: 'cds_database_connections',
        help: 'Connections of a pool that are in use or idle, and queries that wait for one',
        labels: ['pool', 'state'],
        together: 'sum',
      },
      () => [...this.pools].flatMap(([pool, read]) => samplesOf(pool, read())),
    );
  }

  /** `read` returns the pool of this name, or undefined while there is none. */
  watch(name: string, read: () => ConnectionPool | undefined): void {
    this.pools.set(name, read);
  }
}

function samplesOf(name: string, pool: ConnectionPool | undefined): MetricSample[] {
  if (pool === undefined) return [];
  const { totalCount, idleCount, waitingCount } = pool;
  return Object.entries({ in_use: totalCount - idleCount, idle: idleCount, waiting: waitingCount }).map(
    ([state, value]) => ({ labels: { pool: name, state }, value }),
  );
}
