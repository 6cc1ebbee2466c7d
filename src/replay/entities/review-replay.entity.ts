import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SingleStatusFilter } from '../../review/domain/review-filter';
import type { WorkState } from '../../platform/jobs/work-states';

/** A bulk replay and its progress. */
@Entity('review_replays')
export class ReviewReplay {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'review_replays_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'review_replays_pkey' })
  id!: string;

  @Column('jsonb')
  filter!: SingleStatusFilter;

  /** The sources that the caller's credential could send when the replay started; null for all. */
  @Column('text', { array: true, nullable: true })
  sources!: string[] | null;

  @Column('text')
  state!: WorkState;

  @Column('integer')
  total!: number;

  @Column('integer')
  accepted!: number;

  @Column('integer')
  duplicate!: number;

  @Column('integer')
  failed!: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** The id of the credential. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt!: Date | null;
}
