import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SharedScope, VariableValue } from '../../variables/domain/variable';

@Entity('shared_values')
export class SharedValue {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'shared_values_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'shared_values_pkey' })
  scope!: SharedScope;

  /** The campaign or the app. */
  @PrimaryColumn('text', { name: 'owner_id', primaryKeyConstraintName: 'shared_values_pkey' })
  ownerId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'shared_values_pkey' })
  name!: string;

  /** Null before the first write. */
  @Column('jsonb', { nullable: true })
  value!: VariableValue | null;

  /** The beginning of the value's period; null for a variable without periods. */
  @Column('timestamptz', { name: 'period_start', nullable: true })
  periodStart!: Date | null;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
