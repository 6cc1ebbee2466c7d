import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last started turn of a shard of a workspace's queue, committed before its work. */
@Entity('queue_turns')
export class QueueTurn {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'queue_turns_pkey' })
  tenantId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'queue_turns_pkey' })
  shard!: number;

  @Column('uuid', { name: 'turn_id' })
  turnId!: string;

  /** The number of first entries of interrupted turns; 0: none. */
  @Column('integer')
  entries!: number;

  /** The entry that is tried alone. */
  @Column('uuid', { name: 'event_id', nullable: true })
  eventId!: string | null;
}
