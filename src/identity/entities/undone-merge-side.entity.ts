import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { MergeSide } from '../domain/known-identities';

/**
 * The side of an undone merge that a profile was on. It never merges automatically with a profile of the other side
 * again (docs/adr/0046). The two evidence profiles of the merge have no row: `profile_merges` names them.
 */
@Entity('undone_merge_sides')
@Index('undone_merge_sides_merge_idx', ['tenantId', 'mergeId'], { where: "side <> ''" })
export class UndoneMergeSide {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'undone_merge_sides_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'undone_merge_sides_pkey' })
  profileId!: string;

  @PrimaryColumn('uuid', { name: 'merge_id', primaryKeyConstraintName: 'undone_merge_sides_pkey' })
  mergeId!: string;

  @Column('text')
  side!: MergeSide;
}
