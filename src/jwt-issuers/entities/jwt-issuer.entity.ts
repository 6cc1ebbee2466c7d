import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { JwtAlgorithm } from '../domain/jwt-algorithms';

@Entity('jwt_issuers')
@Unique('jwt_issuers_tenant_issuer_audience_key', ['tenantId', 'issuer', 'audience'])
@Index('jwt_issuers_pair_idx', ['issuer', 'audience', 'createdAt'], { where: "created_at > '-infinity'" })
export class JwtIssuer {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'jwt_issuers_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'jwt_issuers_pkey' })
  id!: string;

  @Column('text')
  issuer!: string;

  @Column('text')
  audience!: string;

  @Column('text', { array: true })
  algorithms!: JwtAlgorithm[];

  /** One of `jwksUri`, `jwks` and `secret` is set: where the keys come from. */
  @Column('text', { name: 'jwks_uri', nullable: true })
  jwksUri!: string | null;

  @Column('jsonb', { nullable: true })
  jwks!: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | null;

  /** Encrypted (`SecretBox`). */
  @Column('bytea', { nullable: true })
  secret!: Buffer | null;

  /** The name of the claim that names the campaign. */
  @Column('text', { name: 'campaign_claim' })
  campaignClaim!: string;

  /** The name of the claim that names the app. */
  @Column('text', { name: 'app_claim' })
  appClaim!: string;

  @Column('text', { name: 'default_campaign_id', nullable: true })
  defaultCampaignId!: string | null;

  /** Null: any campaign of the workspace. */
  @Column('text', { name: 'allowed_campaign_ids', array: true, nullable: true })
  allowedCampaignIds!: string[] | null;

  @Column('integer', { name: 'clock_tolerance_seconds' })
  clockToleranceSeconds!: number;

  /** The command-line tool signs tokens of `development` issuers only. */
  @Column('text')
  origin!: 'api' | 'development';

  /** By the database's clock. A later registration of the same pair has a later time. */
  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** The id of the credential that created it, or `command line`. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;
}
