import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ChangeContent } from '../domain/stored-change';

/** A change of a value that endpoints get; kept as long as its deliveries. */
@Entity('webhook_changes')
@Index('webhook_changes_waiting_idx', ['tenantId', 'at', 'position', 'id'], { where: 'endpoint_ids IS NOT NULL' })
@Index('webhook_changes_subject_idx', ['tenantId', 'subject', 'id'], { where: "subject <> ''" })
export class WebhookChange {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'webhook_changes_pkey' })
  tenantId!: string;

  /** The `webhook-id` of its calls. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_changes_pkey' })
  id!: string;

  /** As in the history of the value: later than that of the change before. */
  @Column('timestamptz')
  at!: Date;

  /** Orders the changes of one transaction, which have one time. */
  @Column('integer')
  position!: number;

  /** Its deliveries are sent in the order of this queue: of a participant, or of a value that participants share. */
  @Column('uuid', { name: 'queue_id' })
  queueId!: string;

  /** Whose own value it is, or who changed a shared one; empty: nobody, or an erased person. */
  @Column('text')
  subject!: string;

  @Column('json')
  change!: ChangeContent;

  /** Which endpoints get it; null: their deliveries were added. */
  @Column('uuid', { name: 'endpoint_ids', array: true, nullable: true })
  endpointIds!: string[] | null;
}
