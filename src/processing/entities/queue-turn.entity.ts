import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The turn that was last begun at a shard of a workspace's queue, committed before anything was done in it. */
@Entity('queue_turns')
export class QueueTurn {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'queue_turns_pkey' })
  tenantId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'queue_turns_pkey' })
  shard!: number;

  @Column('uuid', { name: 'turn_id' })
  turnId!: string;

  /** How many of the first entries turns have begun with that did not end; 0: none. */
  @Column('integer')
  entries!: number;

  /** The one of them that is tried by itself. */
  @Column('uuid', { name: 'event_id', nullable: true })
  eventId!: string | null;
}
