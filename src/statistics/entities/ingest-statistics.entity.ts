import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventFamily } from '../../ingest/domain/submission';
import type { StatisticsStep } from '../domain/statistics-range';

/**
 * The events of a workspace in a minute, hour or day (UTC), of one family, source and type. An hour or a day is the sum of its
 * minutes at any moment. Source and type may be names of `domain/group-names.ts`.
 */
@Entity('ingest_statistics')
export class IngestStatistics {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'ingest_statistics_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'ingest_statistics_pkey' })
  step!: StatisticsStep;

  /** When the minute, hour or day began. */
  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'ingest_statistics_pkey' })
  at!: Date;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'ingest_statistics_pkey' })
  family!: EventFamily;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'ingest_statistics_pkey' })
  source!: string;

  @PrimaryColumn('text', { name: 'event_type', primaryKeyConstraintName: 'ingest_statistics_pkey' })
  eventType!: string;

  /** By their time of receipt. */
  @Column('bigint')
  accepted!: string;

  /** Of the accepted ones: occurred more than 24 hours before they were received. */
  @Column('bigint')
  late!: string;

  /** Of the accepted ones: occur more than 24 hours after they were received. */
  @Column('bigint', { name: 'clock_skewed' })
  clockSkewed!: string;

  /** By the time of the answer. */
  @Column('bigint')
  duplicate!: string;

  /** By the time of the answer. */
  @Column('bigint')
  refused!: string;
}
