import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** An event that waits for the workers. The key is the order in which a shard is worked off. */
@Entity('event_queue')
@Index('event_queue_queued_idx', ['tenantId', 'queuedAt'], { where: "queued_at > '-infinity'" })
export class QueuedEvent {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'event_queue_pkey' })
  tenantId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'event_queue_pkey' })
  shard!: number;

  /** By the database's clock; never falls within a workspace. */
  @PrimaryColumn('timestamptz', { name: 'queued_at', primaryKeyConstraintName: 'event_queue_pkey' })
  queuedAt!: Date;

  /** Within the batch that queued it. */
  @PrimaryColumn('integer', { primaryKeyConstraintName: 'event_queue_pkey' })
  position!: number;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'event_queue_pkey' })
  eventId!: string;

  /** The customer's root when the event was received. */
  @Column('uuid', { name: 'profile_id' })
  profileId!: string;

  /** When it came back, after it had waited for its customer; null: it has been here since `queuedAt`. */
  @Column('timestamptz', { name: 'released_at', nullable: true })
  releasedAt!: Date | null;
}
