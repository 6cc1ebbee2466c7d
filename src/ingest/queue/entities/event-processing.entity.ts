import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ProcessingState, ReactionRecord } from '../processing-record';

/** What became of an event; without a row it waits for its first attempt. */
@Entity('event_processing')
@Index('event_processing_failed_idx', ['tenantId', 'eventId'], { where: "state = 'failed'" })
export class EventProcessing {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'event_processing_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'event_processing_pkey' })
  eventId!: string;

  @Column('text')
  state!: ProcessingState;

  @Column('integer')
  attempts!: number;

  /** By the database's clock; null while it is queued. */
  @Column('timestamptz', { name: 'processed_at', nullable: true })
  processedAt!: Date | null;

  /** A code and words, never a value. */
  @Column('text', { name: 'last_error', nullable: true })
  lastError!: string | null;

  @Column('jsonb')
  reactions!: ReactionRecord[];
}
