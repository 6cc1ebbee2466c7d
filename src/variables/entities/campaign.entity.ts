import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A campaign with declarations. Every change of its declarations locks this row first. */
@Entity('campaigns')
@Index('campaigns_created_idx', ['tenantId', 'createdAt', 'campaignId'], { where: "created_at > '-infinity'" })
export class Campaign {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'campaigns_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'campaigns_pkey' })
  campaignId!: string;

  /** Of its declarations: every change increments it, and mutations apply those of this version only. */
  @Column('bigint', { default: 0 })
  version!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;
}
