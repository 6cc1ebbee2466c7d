import { Column, Entity, PrimaryColumn } from 'typeorm';

const KEY = 'reaction_backfill_marks_pkey';

/** The last event of a profile to which the reaction of a running backfill was applied. */
@Entity('reaction_backfill_marks')
export class ReactionBackfillMark {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: KEY })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'backfill_id', primaryKeyConstraintName: KEY })
  backfillId!: string;

  /** The event's own profile; nil: the last event that set values of the campaign or the app. */
  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: KEY })
  profileId!: string;

  @Column('timestamptz', { name: 'received_at' })
  receivedAt!: Date;

  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;

  @Column('uuid', { name: 'event_id' })
  eventId!: string;
}
