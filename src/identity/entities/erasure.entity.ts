import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

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

  @Column('timestamptz', { name: 'finished_at', nullable: true })
  finishedAt!: Date | null;
}
