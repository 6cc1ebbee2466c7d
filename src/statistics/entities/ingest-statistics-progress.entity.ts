import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How far the event log of a workspace is counted in `ingest_statistics`. */
@Entity('ingest_statistics_progress')
export class IngestStatisticsProgress {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'ingest_statistics_progress_pkey' })
  tenantId!: string;

  /** Events that were received before this time are counted; no transaction can add one any more, except a replay. */
  @Column('timestamptz', { name: 'counted_until' })
  countedUntil!: Date;
}
