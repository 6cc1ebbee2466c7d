import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Period } from '../domain/period';
import type { VariableScope, VariableType, VariableValue } from '../domain/variable';

/** What comes back if a stored value turns out to be outside of new limits. Times as text. */
export interface ReplacedDeclaration {
  /** A new one with each definition. */
  readonly mark: string;
  /** Null: nothing was declared. */
  readonly declaration: {
    readonly defaultValue: VariableValue | null;
    readonly description: string | null;
    readonly min: number | null;
    readonly max: number | null;
    readonly period: Period | null;
    readonly updatedAt: string;
    readonly archivedAt: string | null;
  } | null;
}

@Entity('variables')
@Index('variables_app_idx', ['tenantId', 'name'], { where: "scope = 'app'" })
@Index('variables_active_idx', ['tenantId', 'campaignId', 'scope'], { where: 'archived_at IS NULL' })
export class Variable {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'variables_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'variables_pkey' })
  campaignId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'variables_pkey' })
  scope!: VariableScope;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'variables_pkey' })
  name!: string;

  @Column('text')
  type!: VariableType;

  @Column('jsonb', { name: 'default_value', nullable: true })
  defaultValue!: VariableValue | null;

  @Column('text', { nullable: true })
  description!: string | null;

  /** The least value of a number, and below it the greatest; null: no limit. */
  @Column('double precision', { nullable: true })
  min!: number | null;

  @Column('double precision', { nullable: true })
  max!: number | null;

  /** Null: a value stays until it is changed. */
  @Column('jsonb', { nullable: true })
  period!: Period | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;

  /** When the declaration was archived; its values stay stored. Null: in force. */
  @Column('timestamptz', { name: 'archived_at', nullable: true })
  archivedAt!: Date | null;

  /** What was declared before, until the stored values are known to keep to the limits; null: they do. */
  @Column('jsonb', { nullable: true })
  replaced!: ReplacedDeclaration | null;
}
