import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The version of a workspace's rules. Every change locks and replaces it; caches are valid for one version. */
@Entity('webhook_sets')
export class WebhookSet {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'webhook_sets_pkey' })
  tenantId!: string;

  @Column('bigint')
  version!: string;
}
