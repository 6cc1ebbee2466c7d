import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('control_changes')
@Index('control_changes_changed_at_idx', ['changedAt'])
export class Invalidation {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'control_changes_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'control_changes_pkey' })
  kind!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'control_changes_pkey' })
  id!: string;

  @Column('timestamptz', { name: 'changed_at' })
  changedAt!: Date;
}
