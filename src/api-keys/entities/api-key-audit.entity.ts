import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ApiKeyAction } from '../domain/api-key-lifetime';

@Entity('api_key_audit')
@Index('api_key_audit_at_idx', ['tenantId', 'at', 'id'], { where: "at > '-infinity'" })
export class ApiKeyAudit {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'api_key_audit_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'key_id', primaryKeyConstraintName: 'api_key_audit_pkey' })
  keyId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_key_audit_pkey' })
  id!: string;

  @Column('text')
  action!: ApiKeyAction;

  @Column('timestamptz')
  at!: Date;

  @Column('text')
  by!: string;

  /** The network address of the caller. */
  @Column('text', { nullable: true })
  address!: string | null;
}
