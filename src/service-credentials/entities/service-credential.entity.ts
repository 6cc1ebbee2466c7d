import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import type { SignatureAlgorithm } from '../domain/service-credential';

@Entity('service_credentials')
@Unique('service_credentials_id_key', ['id'])
export class ServiceCredential {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'service_credentials_pkey' })
  tenantId!: string;

  /** The `keyid` of signatures. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'service_credentials_pkey' })
  id!: string;

  @Column('text')
  name!: string;

  @Column('text')
  algorithm!: SignatureAlgorithm;

  /** SPKI PEM; set for Ed25519. */
  @Column('text', { name: 'public_key', nullable: true })
  publicKey!: string | null;

  /** Encrypted (`SecretBox`); set for HMAC. */
  @Column('bytea', { nullable: true })
  secret!: Buffer | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** The id of the credential that created it. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;
}
