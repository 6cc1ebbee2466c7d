import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import type { Scope } from '../../platform/auth/scopes';

@Entity('api_keys')
@Unique('api_keys_key_hash_key', ['keyHash'])
export class ApiKey {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'api_keys_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_keys_pkey' })
  id!: string;

  @Column('text')
  name!: string;

  /** SHA-256 of the plaintext, which is stored nowhere. */
  @Column('bytea', { name: 'key_hash' })
  keyHash!: Buffer;

  @Column('text')
  hint!: string;

  @Column('text', { array: true })
  scopes!: Scope[];

  /** Null: every source. */
  @Column('text', { array: true, nullable: true })
  sources!: string[] | null;

  /** `bootstrap` keys are or were the value in the environment and replace one another; `api` keys are all others. */
  @Column('text')
  origin!: 'api' | 'bootstrap';

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** The id of the credential that made it, or `bootstrap`. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  /** Null: never. */
  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  @Column('uuid', { name: 'rotated_from', nullable: true })
  rotatedFrom!: string | null;

  @Column('uuid', { name: 'rotated_to', nullable: true })
  rotatedTo!: string | null;
}
