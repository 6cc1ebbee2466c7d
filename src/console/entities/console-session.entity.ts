import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import type { SessionKind } from '../session-grants';

/** A session of the console. Its secret is in a browser's cookie, and stored nowhere. */
@Entity('console_sessions')
@Unique('console_sessions_secret_hash_key', ['secretHash'])
export class ConsoleSessionRow {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'console_sessions_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'console_sessions_pkey' })
  id!: string;

  /** SHA-256 of the secret. */
  @Column('bytea', { name: 'secret_hash' })
  secretHash!: Buffer;

  /** Where the rights of the session come from. */
  @Column('text')
  via!: SessionKind;

  /** The id of the API key, or of what stands for it. */
  @Column('uuid', { name: 'grant_id' })
  grantId!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Up to some seconds before the last use. */
  @Column('timestamptz', { name: 'used_at' })
  usedAt!: Date;

  /** Null: never. */
  @Column('timestamptz', { name: 'proven_at', nullable: true })
  provenAt!: Date | null;
}
