import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The progress of an erasure that features do in steps. */
export interface ErasureProgress {
  /** ISO 8601. */
  readonly begunAt: string;
  /** The position of each feature, by its name. */
  readonly positions: Readonly<Record<string, string>>;
}

/** An erasure of a customer. It is unfinished until all data of the person are erased. */
@Entity('erasures')
@Index('erasures_erased_idx', ['tenantId', 'erasedAt', 'profileId'], { where: "erased_at > '-infinity'" })
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

  /** The progress of the features that erase in steps; null before the first step. */
  @Column('jsonb', { nullable: true })
  progress!: ErasureProgress | null;

  /** When a process last worked on it; null before the first step. */
  @Column('timestamptz', { name: 'worked_at', nullable: true })
  workedAt!: Date | null;

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt!: Date | null;
}
