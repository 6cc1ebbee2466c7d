import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The version of a workspace's reactions. Every change locks and replaces it; caches are valid for one version. */
@Entity('reaction_sets')
export class ReactionSet {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'reaction_sets_pkey' })
  tenantId!: string;

  @Column('bigint')
  version!: string;
}
