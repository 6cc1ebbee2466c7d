import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('api_key_audit')
export class ApiKeyAudit {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'api_key_audit_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'key_id', primaryKeyConstraintName: 'api_key_audit_pkey' })
  keyId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_key_audit_pkey' })
  id!: string;

  @Column('text')
  action!: 'created' | 'rotated' | 'revoked';

  @Column('timestamptz')
  at!: Date;

  @Column('text')
  by!: string;

  /** The network address of the caller. */
  @Column('text', { nullable: true })
  address!: string | null;
}
