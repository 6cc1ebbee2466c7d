import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that waits for the workers. The key is the order in which a shard is worked off. */
@Entity('event_queue')
export class QueuedEvent {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'event_queue_pkey' })
  tenantId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'event_queue_pkey' })
  shard!: number;

  /** By the database's clock. */
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
