import { Entity, PrimaryColumn } from 'typeorm';

/** A customer whose data an unmasked read has shown. The key is the order in which the entries of one are listed. */
@Entity('unmasked_customers')
export class UnmaskedCustomer {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'unmasked_customers_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'unmasked_customers_pkey' })
  profileId!: string;

  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'unmasked_customers_pkey' })
  at!: Date;

  /** Of the audit entry. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'unmasked_customers_pkey' })
  id!: string;
}
