import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Scope } from '../../../platform/auth/scopes';

/** What a person who has signed in at the identity provider may do in one workspace, by its last answer. */
@Entity('console_oidc_grants')
export class OidcGrantRow {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'console_oidc_grants_pkey' })
  tenantId!: string;

  /** Made of the issuer and the subject: the sessions of a person share it. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'console_oidc_grants_pkey' })
  id!: string;

  /** The `sub` of the person. */
  @Column('text')
  subject!: string;

  /** As the provider calls the person. */
  @Column('text')
  name!: string;

  @Column('text', { array: true })
  scopes!: Scope[];

  /** What the provider is asked with, sealed. Kept only as long as the sessions. */
  @Column('bytea')
  token!: Buffer;

  /** When the provider answered. */
  @Column('timestamptz', { name: 'renewed_at' })
  renewedAt!: Date;

  /** Until then only one process asks: providers end sign-ins whose refresh token is used twice. */
  @Column('timestamptz', { name: 'renewing_until', nullable: true })
  renewingUntil!: Date | null;
}
