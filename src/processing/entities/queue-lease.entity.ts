import { Entity, PrimaryColumn } from 'typeorm';

/** The lease of a shard of a workspace's queue: a worker locks this row. */
@Entity('queue_leases')
export class QueueLease {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'queue_leases_pkey' })
  tenantId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'queue_leases_pkey' })
  shard!: number;
}
