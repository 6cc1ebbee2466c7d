import { Column, Entity, PrimaryColumn } from 'typeorm';

/** When a bundle has left the queue; its events are processed, and nothing was done with them. Rows go after a while. */
@Entity('processed_bundles')
export class ProcessedBundle {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'processed_bundles_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'processed_bundles_pkey' })
  id!: string;

  /** By the database's clock. */
  @Column('timestamptz', { name: 'processed_at' })
  processedAt!: Date;
}
