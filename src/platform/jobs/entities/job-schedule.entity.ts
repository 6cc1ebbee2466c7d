import { Column, Entity, PrimaryColumn } from 'typeorm';

/** When a periodic job was last due: one row a job for the whole installation. */
@Entity('job_schedules')
export class JobScheduleRow {
  /** The nil UUID, which no workspace has. */
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'job_schedules_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'job_schedules_pkey' })
  job!: string;

  @Column('timestamptz', { name: 'due_at' })
  dueAt!: Date;
}
