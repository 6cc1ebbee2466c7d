import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Events of one commit that nothing is done with: they wait for the workers together. */
@Entity('queued_bundles')
export class QueuedBundle {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'queued_bundles_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'queued_bundles_pkey' })
  id!: string;

  /** By the database's clock. */
  @Column('timestamptz', { name: 'queued_at' })
  queuedAt!: Date;

  /** How many. */
  @Column('integer')
  events!: number;
}
