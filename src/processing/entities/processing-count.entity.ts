import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many events a shard of a workspace has processed in some ten seconds; a ring, written over after a minute. */
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
