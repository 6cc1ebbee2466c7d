import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { VariableType } from '../domain/variable';

/** The type of a name in the scope `app`: the same in every campaign of the workspace that ever declared it. */
@Entity('app_variables')
export class AppVariable {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'app_variables_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'app_variables_pkey' })
  name!: string;

  @Column('text')
  type!: VariableType;
}
