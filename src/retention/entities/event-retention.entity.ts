import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How long a workspace keeps its events, and how far the removal of older ones is. Rows stay. */
@Entity('event_retention')
export class EventRetention {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'event_retention_pkey' })
  tenantId!: string;

  /** Null: everything is kept. */
  @Column('integer', { name: 'event_days', nullable: true })
  eventDays!: number | null;

  /** By the database's clock, as all times here. */
  @Column('timestamptz', { name: 'changed_at' })
  changedAt!: Date;

  /** The id of the credential. */
  @Column('text', { name: 'changed_by' })
  changedBy!: string;

  /** When the next step is due; workspaces take turns by it. */
  @Column('timestamptz', { name: 'next_step_at' })
  nextStepAt!: Date;

  /** The last event that the pass under way has looked at: its time of receipt and its id; null: none. */
  @Column('timestamptz', { name: 'position_at', nullable: true })
  positionAt!: Date | null;

  @Column('uuid', { name: 'position_id', nullable: true })
  positionId!: string | null;

  /** Events that were received before it have gone, except those that were still being processed. */
  @Column('timestamptz', { name: 'expired_before', nullable: true })
  expiredBefore!: Date | null;
}
