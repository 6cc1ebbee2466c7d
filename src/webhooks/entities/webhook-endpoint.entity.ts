import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DisabledReason, WebhookAlgorithm } from '../domain/webhook';

@Entity('webhook_endpoints')
export class WebhookEndpoint {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'webhook_endpoints_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_endpoints_pkey' })
  id!: string;

  @Column('text')
  url!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('boolean')
  unmask!: boolean;

  @Column('text')
  algorithm!: WebhookAlgorithm;

  /** Encrypted (`SecretBox`). */
  @Column('bytea')
  secret!: Buffer;

  /** Encrypted; signs too until `previousSecretUntil`. */
  @Column('bytea', { name: 'previous_secret', nullable: true })
  previousSecret!: Buffer | null;

  @Column('timestamptz', { name: 'previous_secret_until', nullable: true })
  previousSecretUntil!: Date | null;

  /** Encrypted; the one before `previousSecret`, if it was replaced less than 24 hours before. */
  @Column('bytea', { name: 'older_secret', nullable: true })
  olderSecret!: Buffer | null;

  @Column('timestamptz', { name: 'older_secret_until', nullable: true })
  olderSecretUntil!: Date | null;

  @Column('boolean')
  enabled!: boolean;

  @Column('text', { name: 'disabled_reason', nullable: true })
  disabledReason!: DisabledReason | null;

  @Column('timestamptz', { name: 'disabled_at', nullable: true })
  disabledAt!: Date | null;

  /** When it was last enabled by a request; null: it was not since it was created. */
  @Column('timestamptz', { name: 'enabled_at', nullable: true })
  enabledAt!: Date | null;

  /** Since when every attempt has failed; null: the last one succeeded, or there was none. */
  @Column('timestamptz', { name: 'failing_since', nullable: true })
  failingSince!: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** The id of the credential that created it. */
  @Column('text', { name: 'created_by' })
  createdBy!: string;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
