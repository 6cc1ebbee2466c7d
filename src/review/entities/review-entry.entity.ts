import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Fault } from '../../platform/errors/fault';
import type {
  StoredPayloadState,
  ReviewPayload,
  ReviewSeverity,
  ReviewStage,
  ReviewStatus,
} from '../domain/review-entry';

/** One problem with all its occurrences. */
@Entity('review_entries')
@Index('review_entries_seen_idx', ['tenantId', 'firstSeenAt', 'id'], { where: "first_seen_at > '-infinity'" })
@Index('review_entries_fields_idx', ['tenantId', 'status', 'reason', 'source', 'eventType', 'stage'], {
  where: "first_seen_at > '-infinity'",
})
@Index('review_entries_closed_idx', ['tenantId', 'closedAt'], { where: "status <> 'open'" })
@Index('review_entries_open_idx', ['tenantId', 'eventId'], {
  where: "status = 'open' AND severity = 'error' AND event_id IS NOT NULL",
})
export class ReviewEntry {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'review_entries_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'review_entries_pkey' })
  id!: string;

  @Column('text')
  severity!: ReviewSeverity;

  @Column('text')
  stage!: ReviewStage;

  @Column('text')
  reason!: string;

  @Column('text')
  message!: string;

  @Column('jsonb')
  details!: Fault[];

  @Column('text')
  family!: string;

  @Column('text', { nullable: true })
  source!: string | null;

  @Column('text', { name: 'external_event_id', nullable: true })
  externalEventId!: string | null;

  @Column('text', { name: 'event_type', nullable: true })
  eventType!: string | null;

  /** The id of the event, or the id that it would get. */
  @Column('uuid', { name: 'event_id', nullable: true })
  eventId!: string | null;

  /** What the client sent, unmasked: JSON text, or the text of a body that is no JSON. */
  @Column('text', { nullable: true })
  payload!: string | null;

  @Column('text', { name: 'payload_form' })
  payloadForm!: ReviewPayload['form'];

  /** Null if the payload is complete. */
  @Column('text', { name: 'payload_state', nullable: true })
  payloadState!: StoredPayloadState | null;

  @Column('integer')
  occurrences!: number;

  @Column('timestamptz', { name: 'first_seen_at' })
  firstSeenAt!: Date;

  @Column('timestamptz', { name: 'last_seen_at' })
  lastSeenAt!: Date;

  @Column('text')
  status!: ReviewStatus;

  @Column('jsonb', { nullable: true })
  resolution!: Record<string, unknown> | null;

  /** By the database's clock; null while it is open. */
  @Column('timestamptz', { name: 'closed_at', nullable: true })
  closedAt!: Date | null;
}
