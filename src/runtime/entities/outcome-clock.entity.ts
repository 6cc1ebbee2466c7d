import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The time by which outcomes age: one row for the whole installation. */
@Entity('outcome_clock')
export class OutcomeClockRow {
  /** The nil UUID, which no workspace has. */
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'outcome_clock_pkey' })
  tenantId!: string;

  /** Never goes back. */
  @Column('timestamptz')
  at!: Date;

  /** The database's clock when `at` was last written. */
  @Column('timestamptz', { name: 'seen_at' })
  seenAt!: Date;
}
