import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WorkState } from '../../../platform/jobs/work-states';
import type { BackfillEndReason, BackfillPhase, VariableSum } from '../domain/backfill';

const KEY = 'reaction_backfills_pkey';

/** A backfill of a reaction, and its progress: rewritten in the transaction of each step. */
@Entity('reaction_backfills')
export class ReactionBackfill {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: KEY })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: KEY })
  campaignId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: KEY })
  name!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: KEY })
  id!: string;

  @Column('uuid', { name: 'reaction_id' })
  reactionId!: string;

  /** The backfill ends when the reaction has been redefined since. */
  @Column('timestamptz', { name: 'reaction_updated_at' })
  reactionUpdatedAt!: Date;

  @Column('text', { name: 'event_type' })
  eventType!: string;

  /** Null: any. */
  @Column('text', { nullable: true })
  source!: string | null;

  /** Whether the order of events matters, so that later ones must be known. */
  @Column('boolean', { name: 'sets_values' })
  setsValues!: boolean;

  @Column('timestamptz', { name: 'received_from' })
  receivedFrom!: Date;

  /** Exclusive. */
  @Column('timestamptz', { name: 'received_to' })
  receivedTo!: Date;

  @Column('boolean', { name: 'is_dry_run' })
  isDryRun!: boolean;

  @Column('integer', { name: 'events_per_second_max', nullable: true })
  eventsPerSecondMax!: number | null;

  @Column('text')
  state!: WorkState;

  /** Why it failed. */
  @Column('text', { nullable: true })
  reason!: BackfillEndReason | null;

  @Column('text')
  phase!: BackfillPhase;

  /** At the next event, which could not be evaluated in time. */
  @Column('integer')
  attempts!: number;

  /** Complete after the survey. */
  @Column('integer')
  total!: number;

  @Column('integer')
  scanned!: number;

  @Column('integer')
  matched!: number;

  @Column('integer')
  applied!: number;

  @Column('integer')
  waiting!: number;

  @Column('integer')
  skipped!: number;

  @Column('integer')
  failed!: number;

  /** Of a dry run. */
  @Column('jsonb')
  sums!: readonly VariableSum[];

  /** The last event of the phase so far. */
  @Column('timestamptz', { name: 'cursor_received_at' })
  cursorReceivedAt!: Date;

  @Column('timestamptz', { name: 'cursor_occurred_at' })
  cursorOccurredAt!: Date;

  @Column('uuid', { name: 'cursor_event_id' })
  cursorEventId!: string;

  @Column('timestamptz', { name: 'requested_at' })
  requestedAt!: Date;

  /** The id of the credential. */
  @Column('text', { name: 'requested_by' })
  requestedBy!: string;

  @Column('timestamptz', { name: 'started_at', nullable: true })
  startedAt!: Date | null;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt!: Date | null;
}
