import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventFamily } from '../../ingest/domain/submission';

/**
 * Counts that are not in `ingest_statistics` yet: duplicates and refusals of a second, or a replayed event, which is stored
 * under an earlier time of receipt.
 */
@Entity('ingest_statistics_changes')
export class IngestStatisticsChange {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'ingest_statistics_changes_pkey' })
  tenantId!: string;

  /** The time of the answers, or of receipt. */
  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'ingest_statistics_changes_pkey' })
  at!: Date;

  /** Made once for each change, or that of the event: a change that is sent twice is stored once. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'ingest_statistics_changes_pkey' })
  id!: string;

  @Column('text')
  family!: EventFamily;

  @Column('text')
  source!: string;

  @Column('text', { name: 'event_type' })
  eventType!: string;

  /** Only if `at` is counted already: a later event will be counted from the log. */
  @Column('integer')
  accepted!: number;

  @Column('integer')
  late!: number;

  @Column('integer', { name: 'clock_skewed' })
  clockSkewed!: number;

  @Column('integer')
  duplicate!: number;

  @Column('integer')
  refused!: number;
}
