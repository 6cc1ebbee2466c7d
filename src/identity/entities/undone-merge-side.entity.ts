import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MergeSide } from '../domain/known-identities';

/**
 * A profile that an undone merge parted from others, and the side on which it was: it never gets into one customer with a
 * profile of the other side again (docs/adr/0046). The two evidences of the merge are on their sides without a row.
 */
@Entity('undone_merge_sides')
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
