import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The bytes that one connection wrote for a workspace on one day (UTC, the database's clock). */
@Entity('review_bytes')
export class ReviewBytes {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'review_bytes_pkey' })
  tenantId!: string;

  @PrimaryColumn('date', { primaryKeyConstraintName: 'review_bytes_pkey' })
  day!: string;

  /** The process id of the connection's server process. No two concurrent transactions have the same one. */
  @PrimaryColumn('integer', { primaryKeyConstraintName: 'review_bytes_pkey' })
  backend!: number;

  @Column('bigint')
  bytes!: string;
}
