import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The events that a shard of a workspace processed in ten seconds; a ring that is overwritten after a minute. */
@Entity('processing_counts')
export class ProcessingCount {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'processing_counts_pkey' })
  tenantId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'processing_counts_pkey' })
  shard!: number;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'processing_counts_pkey' })
  slot!: number;

  @Column('timestamptz', { name: 'started_at' })
  startedAt!: Date;

  @Column('integer')
  processed!: number;
}
