import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Something that was done to a record which has no table of its own for that. The key is the order of the list. */
@Entity('audit_log')
@Index('audit_log_record_idx', ['tenantId', 'recordId', 'at', 'id'], { where: "at > '-infinity'" })
export class AuditLogLine {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'audit_log_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'audit_log_pkey' })
  kind!: string;

  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'audit_log_pkey' })
  at!: Date;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'audit_log_pkey' })
  id!: string;

  @Column('text')
  action!: string;

  @Column('text', { name: 'record_id' })
  recordId!: string;

  /** Of the record, which may be gone. */
  @Column('text')
  name!: string;

  /** The id of the credential, or `command line`. */
  @Column('text')
  by!: string;

  @Column('text', { nullable: true })
  address!: string | null;
}
