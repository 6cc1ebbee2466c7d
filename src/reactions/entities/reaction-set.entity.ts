import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How often the reactions of a workspace have changed: whoever changes them locks it, and what a node remembers is held to it. */
@Entity('reaction_sets')
export class ReactionSet {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'reaction_sets_pkey' })
  tenantId!: string;

  @Column('bigint')
  version!: string;
}
