import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { EventFamily } from '../../domain/submission';

/** A stored event. Rows are never updated, save by an erasure. */
@Entity('events')
@Index('events_received_idx', ['tenantId', 'receivedAt'], { where: "received_at > '-infinity'" })
@Index('events_timeline_idx', ['tenantId', 'profileId', 'occurredAt', 'eventId'], {
  where: "occurred_at > '-infinity'",
})
export class EventRow {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'events_pkey' })
  tenantId!: string;

  /** Made from workspace, source and external id: the deduplication is this key. */
  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'events_pkey' })
  eventId!: string;

  @Column('text')
  family!: EventFamily;

  @Column('text')
  source!: string;

  @Column('text', { name: 'external_event_id' })
  externalEventId!: string;

  @Column('text', { name: 'event_type' })
  eventType!: string;

  @Column('integer', { name: 'event_type_version', nullable: true })
  eventTypeVersion!: number | null;

  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;

  @Column('timestamptz', { name: 'received_at' })
  receivedAt!: Date;

  /** The own profile of its strongest identifier. */
  @Column('uuid', { name: 'profile_id' })
  profileId!: string;

  /** As the client wrote it. */
  @Column('jsonb')
  identity!: Record<string, string>;

  @Column('jsonb')
  properties!: Record<string, unknown>;

  @Column('bytea', { name: 'content_hash' })
  contentHash!: Buffer;

  @Column('uuid', { name: 'batch_id' })
  batchId!: string;

  /** The entry that it left the queue with, together with others; null: it had one of its own. */
  @Column('uuid', { name: 'queue_bundle_id', nullable: true })
  queueBundleId!: string | null;
}
