import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A campaign that has declared something; whoever changes its declarations locks it. */
@Entity('campaigns')
export class Campaign {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'campaigns_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'campaigns_pkey' })
  campaignId!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;
}
