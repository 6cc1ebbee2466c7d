import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A queue entry that failed and may still succeed, or a later entry of the same profile. */
@Entity('parked_events')
@Index('parked_events_due_idx', ['tenantId', 'shard', 'retryAt'], { where: 'retry_at IS NOT NULL' })
@Index('parked_events_queued_idx', ['tenantId', 'queuedAt'], { where: "queued_at > '-infinity'" })
export class ParkedEvent {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'parked_events_pkey' })
  tenantId!: string;

  /** The customer's root when the event was received. */
  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'parked_events_pkey' })
  profileId!: string;

  @PrimaryColumn('timestamptz', { name: 'queued_at', primaryKeyConstraintName: 'parked_events_pkey' })
  queuedAt!: Date;

  @PrimaryColumn('integer', { primaryKeyConstraintName: 'parked_events_pkey' })
  position!: number;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'parked_events_pkey' })
  eventId!: string;

  @Column('smallint')
  shard!: number;

  @Column('integer')
  attempts!: number;

  /** By the database's clock; null on entries after the first one of their profile. */
  @Column('timestamptz', { name: 'retry_at', nullable: true })
  retryAt!: Date | null;
}
