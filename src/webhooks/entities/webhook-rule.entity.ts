import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Condition } from '../../reactions/domain/condition';
import type { VariableScope } from '../../variables/domain/variable';

@Entity('webhook_rules')
@Index('webhook_rules_event_type_idx', ['tenantId', 'eventType', 'endpointId', 'position'], {
  where: "applies_from > '-infinity'",
})
export class WebhookRuleRow {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'webhook_rules_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'endpoint_id', primaryKeyConstraintName: 'webhook_rules_pkey' })
  endpointId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'webhook_rules_pkey' })
  position!: number;

  /** Null: the rule is for changes of a variable. */
  @Column('text', { name: 'event_type', nullable: true })
  eventType!: string | null;

  @Column('text', { nullable: true })
  source!: string | null;

  /** As it was sent; json keeps its text. */
  @Column('json', { nullable: true })
  condition!: Condition | null;

  @Column('text', { name: 'change_scope', nullable: true })
  changeScope!: VariableScope | null;

  @Column('text', { name: 'change_name', nullable: true })
  changeName!: string | null;

  /** Null: of any campaign. */
  @Column('text', { name: 'change_campaign_id', nullable: true })
  changeCampaignId!: string | null;

  /** Events received earlier, and earlier changes, are ignored. */
  @Column('timestamptz', { name: 'applies_from' })
  appliesFrom!: Date;
}
