import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How far the time has come by which outcomes age: one row for the whole installation. */
@Entity('outcome_clock')
export class OutcomeClockRow {
  /** The nil UUID, which no workspace has. */
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'outcome_clock_pkey' })
  tenantId!: string;

  /** Never falls. */
  @Column('timestamptz')
  at!: Date;

  /** What the database's clock showed when `at` was last written. */
  @Column('timestamptz', { name: 'seen_at' })
  seenAt!: Date;
}
