import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

@Entity('workspaces')
@Unique('workspaces_name_key', ['name'])
export class Workspace {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'workspaces_pkey' })
  tenantId!: string;

  @Column('text')
  name!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;
}
