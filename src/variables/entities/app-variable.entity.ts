import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { VariableType } from '../domain/variable';

/** The type on which all campaigns of a workspace agree that ever declared this name in the scope `app`. */
@Entity('app_variables')
export class AppVariable {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'app_variables_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'app_variables_pkey' })
  name!: string;

  @Column('text')
  type!: VariableType;
}
