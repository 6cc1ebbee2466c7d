import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WorkState } from '../../platform/jobs/work-states';
import type { WebhookReplayEndReason, WebhookReplayPhase } from '../replay/domain/webhook-replay';

const KEY = 'webhook_replays_pkey';

/** A replay of events to an endpoint, and its progress: rewritten in the transaction of each step. */
@Entity('webhook_replays')
export class WebhookReplay {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: KEY })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'endpoint_id', primaryKeyConstraintName: KEY })
  endpointId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: KEY })
  id!: string;

  /** The replay ends when the endpoint has other rules. */
  @Column('text', { name: 'rules_hash' })
  rulesHash!: string;

  @Column('timestamptz', { name: 'received_from' })
  receivedFrom!: Date;

  /** Exclusive. */
  @Column('timestamptz', { name: 'received_to' })
  receivedTo!: Date;

  @Column('text')
  state!: WorkState;

  /** Why it failed. */
  @Column('text', { nullable: true })
  reason!: WebhookReplayEndReason | null;

  @Column('text')
  phase!: WebhookReplayPhase;

  /** At the next event, whose condition took too long. */
  @Column('integer')
  attempts!: number;

  /** Complete after the survey. */
  @Column('integer')
  total!: number;

  @Column('integer')
  scanned!: number;

  @Column('integer')
  queued!: number;

  @Column('integer', { name: 'already_queued' })
  alreadyQueued!: number;

  @Column('integer')
  skipped!: number;

  @Column('integer')
  failed!: number;

  @Column('integer')
  expired!: number;

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
