import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WorkState } from '../../../platform/jobs/work-states';
import type { SingleStatusFilter } from '../../domain/review-filter';

/** A bulk dismissal and its progress. */
@Entity('review_dismissals')
export class ReviewDismissal {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'review_dismissals_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'review_dismissals_pkey' })
  id!: string;

  @Column('jsonb')
  filter!: SingleStatusFilter;

  @Column('text', { nullable: true })
  note!: string | null;

  @Column('text')
  state!: WorkState;

  /** Entries that matched when it started. */
  @Column('integer')
  total!: number;

  /** Entries that it has closed. */
  @Column('integer')
  dismissed!: number;

  /** The id of the last entry that it has looked at. */
  @Column('uuid')
  position!: string;

  /** Problems that occur later stay open. */
  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** The id of the credential. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt!: Date | null;
}
