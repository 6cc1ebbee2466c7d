import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Bytes that one connection has written for a workspace in a day of the database (UTC). */
@Entity('review_bytes')
export class ReviewBytes {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'review_bytes_pkey' })
  tenantId!: string;

  @PrimaryColumn('date', { primaryKeyConstraintName: 'review_bytes_pkey' })
  day!: string;

  /** The process id of the connection's server process: no two transactions at a time have the same. */
  @PrimaryColumn('integer', { primaryKeyConstraintName: 'review_bytes_pkey' })
  backend!: number;

  @Column('bigint')
  bytes!: string;
}
