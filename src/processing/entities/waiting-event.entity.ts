import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A processed event with a reaction that waits until its customer has an EXTERNAL identifier. */
@Entity('waiting_events')
@Index('waiting_events_queued_idx', ['tenantId', 'queuedAt'], { where: "queued_at > '-infinity'" })
export class WaitingEvent {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'waiting_events_pkey' })
  tenantId!: string;

  /** The event's own profile; a merge or its undo does not change it. */
  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'waiting_events_pkey' })
  profileId!: string;

  /** When the event was queued, by the database's clock: it waits REACTION_LINK_DAYS from then on. */
  @PrimaryColumn('timestamptz', { name: 'queued_at', primaryKeyConstraintName: 'waiting_events_pkey' })
  queuedAt!: Date;

  @PrimaryColumn('integer', { primaryKeyConstraintName: 'waiting_events_pkey' })
  position!: number;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'waiting_events_pkey' })
  eventId!: string;

  /** The customer's root when the event was received: its partition in the queue. */
  @Column('uuid', { name: 'queued_for' })
  queuedFor!: string;
}
