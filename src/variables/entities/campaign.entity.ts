import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A campaign with declarations. Every change of its declarations locks this row first. */
@Entity('campaigns')
export class Campaign {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'campaigns_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'campaigns_pkey' })
  campaignId!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;
}
