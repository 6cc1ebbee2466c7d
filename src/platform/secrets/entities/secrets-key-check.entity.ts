import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Which key the database is used with: one row for the whole installation. */
@Entity('secrets_key_checks')
export class SecretsKeyCheckRow {
  /** The nil UUID, which no workspace has. */
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'secrets_key_checks_pkey' })
  tenantId!: string;

  @Column('bytea', { name: 'check_value' })
  checkValue!: Buffer;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;
}
