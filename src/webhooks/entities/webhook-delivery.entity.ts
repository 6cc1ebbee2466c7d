import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Attempt, DeliveryState, FailureReason } from '../domain/webhook';

/** What became of an event, or of a change of a value, at an endpoint. */
@Entity('webhook_deliveries')
@Index('webhook_deliveries_profile_idx', ['tenantId', 'queueId', 'endpointId', 'seq'], { where: 'seq > 0' })
@Index('webhook_deliveries_state_idx', ['tenantId', 'endpointId', 'state', 'seq'], {
  where: "created_at > '-infinity'",
})
export class WebhookDelivery {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'webhook_deliveries_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'webhook_deliveries_pkey' })
  eventId!: string;

  @PrimaryColumn('uuid', { name: 'endpoint_id', primaryKeyConstraintName: 'webhook_deliveries_pkey' })
  endpointId!: string;

  /** Whether `eventId` is the id of a change, and `queueId` the queue of its participant or variable. */
  @Column('boolean', { name: 'is_change', default: false })
  isChange!: boolean;

  /** Of an event: its own profile, which no merge changes. */
  @Column('uuid', { name: 'profile_id' })
  queueId!: string;

  /** The position in its queue: microseconds of the database's clock, which never go back there. */
  @Column('bigint')
  seq!: string;

  @Column('text')
  state!: DeliveryState;

  /** Why it failed. */
  @Column('text', { nullable: true })
  reason!: FailureReason | null;

  @Column('integer', { name: 'attempt_count' })
  attemptCount!: number;

  /** The last ones, oldest first. */
  @Column('jsonb')
  attempts!: readonly Attempt[];

  @Column('timestamptz', { name: 'first_attempt_at', nullable: true })
  firstAttemptAt!: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'done_at', nullable: true })
  doneAt!: Date | null;
}
