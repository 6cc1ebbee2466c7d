import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** An audit entry: a caller has read unmasked data. */
@Entity('unmask_audit')
@Index('unmask_audit_at_idx', ['tenantId', 'at', 'id'], { where: "at > '-infinity'" })
export class UnmaskAuditLine {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'unmask_audit_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'unmask_audit_pkey' })
  id!: string;

  @Column('timestamptz')
  at!: Date;

  /** The id of the credential. */
  @Column('text')
  by!: string;

  @Column('text', { nullable: true })
  address!: string | null;

  /** The request, and the ids of what it showed where its path does not say them; never a value. */
  @Column('text')
  what!: string;
}
