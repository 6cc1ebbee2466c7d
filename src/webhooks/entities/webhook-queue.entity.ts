import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * The pending deliveries of a profile, or of another owner (`changeQueueId`), at an endpoint: one attempt at a time, in
 * the order of `seq`.
 */
@Entity('webhook_queues')
@Index('webhook_queues_due_idx', ['tenantId', 'endpointId', 'dueAt'], { where: "due_at > '-infinity'" })
export class WebhookQueue {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'webhook_queues_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'endpoint_id', primaryKeyConstraintName: 'webhook_queues_pkey' })
  endpointId!: string;

  /** See `QueueKey`. */
  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'webhook_queues_pkey' })
  queueId!: string;

  /** Of the last delivery that was added. */
  @Column('bigint', { name: 'last_seq' })
  lastSeq!: string;

  /** Everything up to here is done. */
  @Column('bigint', { name: 'done_seq' })
  doneSeq!: string;

  /** Failed attempts at the first delivery since it was put into the queue. */
  @Column('integer')
  failures!: number;

  /** Nobody sends anything before. */
  @Column('timestamptz', { name: 'due_at' })
  dueAt!: Date;

  /** An attempt is under way, or was interrupted. */
  @Column('uuid', { name: 'claim_id', nullable: true })
  claimId!: string | null;
}
