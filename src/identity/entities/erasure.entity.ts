import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Steps of an erasure that are done and need not be done again. */
export interface StepsDone {
  /** ISO 8601. */
  readonly begunAt: string;
  /** By the name of the feature. */
  readonly positions: Readonly<Record<string, string>>;
}

/** A customer who was erased, and by whom; unfinished until nothing of the person is left. */
@Entity('erasures')
@Index('erasures_unfinished_idx', ['tenantId', 'profileId'], { where: 'finished_at IS NULL' })
export class Erasure {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'erasures_pkey' })
  tenantId!: string;

  /** The root of the customer. */
  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'erasures_pkey' })
  profileId!: string;

  @Column('timestamptz', { name: 'erased_at' })
  erasedAt!: Date;

  /** The id of the credential. */
  @Column('text')
  by!: string;

  @Column('text', { nullable: true })
  address!: string | null;

  /** How far the features have got that erase in steps. */
  @Column('jsonb', { nullable: true })
  progress!: StepsDone | null;

  /** When somebody was last at it; null before the first step. */
  @Column('timestamptz', { name: 'worked_at', nullable: true })
  workedAt!: Date | null;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt!: Date | null;
}
