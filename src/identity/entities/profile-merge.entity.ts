import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The log of merges; an undone one keeps the two apart. */
@Entity('profile_merges')
@Index('profile_merges_undone_idx', ['tenantId', 'fromProfileId'], { where: 'undone_at IS NOT NULL' })
export class ProfileMerge {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'profile_merges_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'profile_merges_pkey' })
  id!: string;

  @Column('uuid', { name: 'from_profile_id' })
  fromProfileId!: string;

  @Column('uuid', { name: 'into_profile_id' })
  intoProfileId!: string;

  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  @Column('timestamptz', { name: 'merged_at' })
  mergedAt!: Date;

  @Column('timestamptz', { name: 'undone_at', nullable: true })
  undoneAt!: Date | null;
}
