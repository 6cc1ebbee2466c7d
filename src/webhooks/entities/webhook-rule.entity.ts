import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Condition } from '../../reactions/domain/condition';

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

  @Column('text', { name: 'event_type' })
  eventType!: string;

  @Column('text', { nullable: true })
  source!: string | null;

  /** As it was sent; json keeps its text. */
  @Column('json', { nullable: true })
  condition!: Condition | null;

  /** Events received earlier are ignored. */
  @Column('timestamptz', { name: 'applies_from' })
  appliesFrom!: Date;
}
