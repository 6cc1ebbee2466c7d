import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { VariableScope, VariableValue } from '../../variables/domain/variable';
import type { OperationKind } from '../domain/operation';
import type { ChangeCause } from '../domain/value-change';

/** One entry of the history of a value. */
@Entity('value_changes')
@Index('value_changes_changed_by_idx', ['tenantId', 'changedBy', 'at'], { where: "changed_by <> ''" })
export class ValueChangeRow {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'value_changes_pkey' })
  tenantId!: string;

  /** Whose own value it is; empty for a value that participants share. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'value_changes_pkey' })
  subject!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'value_changes_pkey' })
  scope!: VariableScope;

  /** The campaign, or the app. */
  @PrimaryColumn('text', { name: 'owner_id', primaryKeyConstraintName: 'value_changes_pkey' })
  ownerId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'value_changes_pkey' })
  name!: string;

  /** By the database's clock; later than that of the change before. */
  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'value_changes_pkey' })
  at!: Date;

  /** Orders the changes of one transaction, which have one time. */
  @PrimaryColumn('integer', { primaryKeyConstraintName: 'value_changes_pkey' })
  position!: number;

  /** By the outcome clock; entries age by it. */
  @PrimaryColumn('timestamptz', { name: 'stored_at', primaryKeyConstraintName: 'value_changes_pkey' })
  storedAt!: Date;

  @Column('text')
  op!: OperationKind;

  @Column('json', { nullable: true })
  previous!: VariableValue | null;

  @Column('json')
  current!: VariableValue;

  @Column('json')
  cause!: ChangeCause;

  /** The participant who changed a shared value; empty: nobody, or the participant's own value, or an erased person. */
  @Column('text', { name: 'changed_by' })
  changedBy!: string;

  /** The beginning of the period of the value; null for a variable without periods. */
  @Column('timestamptz', { name: 'period_start', nullable: true })
  periodStart!: Date | null;
}
