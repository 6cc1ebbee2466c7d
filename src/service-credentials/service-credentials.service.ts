import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AuditActionOf } from '../platform/audit/audit-kinds';
import { AuditLog, type AuditActor } from '../platform/audit/audit-log';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { InvalidationFeed } from '../platform/invalidation/invalidation-feed';
import { validationFailed } from '../platform/errors/validation-failed';
import { newId } from '../platform/values/ids';
import { isUuid } from '../platform/values/uuid';
import { idPage } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { SecretBox } from '../platform/secrets/secret-box';
import { credentialKey, type CredentialKeyRequest } from './domain/credential-key';
import type { ServiceCredential } from './entities/service-credential.entity';
import { assertMayIssue, noSuchServiceCredential } from './domain/service-credential';
import { ServiceCredentialRepository } from './service-credential.repository';
import { credentialSubject } from './signing-credentials';

export interface ServiceCredentialRequest extends CredentialKeyRequest {
  readonly name: string;
}

/** A credential's record. `secret` is set when the service made one; it is in this answer only. */
export interface IssuedServiceCredential {
  readonly credential: ServiceCredential;
  readonly secret?: string;
}

/** The output length of the HMAC (RFC 2104, section 3). */
const SECRET_BYTES = 32;

/** Manages the credentials that requests are signed with (contract section 2). */
@Injectable()
export class ServiceCredentialsService implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly credentials: ServiceCredentialRepository,
    private readonly box: SecretBox,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
    private readonly log: AuditLog,
  ) {}

  onModuleInit(): void {
    this.log.registerNotes('service_credential');
  }

  /**
   * Creates a credential. Throws `validation_failed`. Throws `insufficient_scope` or `source_not_allowed` unless the caller
   * itself may send external events of every source, as signed requests may.
   */
  async create(
    caller: Principal,
    request: ServiceCredentialRequest,
    address: string | null,
  ): Promise<IssuedServiceCredential> {
    assertMayIssue(caller);
    const key = credentialKey(request, this.box.canSeal);
    if ('faults' in key) throw validationFailed(key.faults);
    const { tenantId } = caller;
    const id = newId();
    const secret = key.algorithm === 'hmac-sha256' ? randomBytes(SECRET_BYTES).toString('base64url') : undefined;
    const record: Omit<ServiceCredential, 'tenantId'> = {
      id,
      name: request.name,
      ...key,
      secret: secret === undefined ? null : this.box.seal(secret, tenantId, id),
      createdAt: this.clock.now(),
      createdBy: caller.credentialId,
      lastUsedAt: null,
      revokedAt: null,
    };
    await this.database.transaction(async (manager) => {
      await this.credentials.insert(manager, tenantId, record);
      await this.note(manager, tenantId, 'created', record, { by: caller.credentialId, address });
    });
    return { credential: { tenantId, ...record }, ...(secret === undefined ? {} : { secret }) };
  }

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ServiceCredential> {
    const found = isUuid(id) ? await this.credentials.find(tenantId, id) : null;
    if (found === null) throw noSuchServiceCredential();
    return found;
  }

  /** One page below the id `start`, newest first. */
  async list(tenantId: string, start: string, limit: number): Promise<Page<ServiceCredential>> {
    // One more than the page shows whether there is a next page.
    return idPage(await this.credentials.list(tenantId, start, limit + 1), limit);
  }

  /**
   * Revokes a credential for good: at once on this node, within a second on every other node. Idempotent. Throws
   * `not_found`.
   */
  async revoke(
    { tenantId, credentialId: by }: Principal,
    id: string,
    address: string | null,
  ): Promise<ServiceCredential> {
    if (!isUuid(id)) throw noSuchServiceCredential();
    const revoked = await this.database.transaction(async (manager) => {
      const isChanged = await this.credentials.revoke(manager, tenantId, id, this.clock.now());
      const credential = await this.credentials.find(tenantId, id, manager);
      if (credential === null) throw noSuchServiceCredential();
      if (isChanged) {
        await this.note(manager, tenantId, 'revoked', credential, { by, address });
        await this.feed.announce(manager, credentialSubject(credential));
      }
      return credential;
    });
    this.feed.forget(credentialSubject(revoked));
    return revoked;
  }

  private note(
    manager: EntityManager,
    tenantId: string,
    action: AuditActionOf<'service_credential'>,
    { id: recordId, name }: Pick<ServiceCredential, 'id' | 'name'>,
    actor: AuditActor,
  ): Promise<void> {
    return this.log.note(manager, tenantId, { kind: 'service_credential', action, recordId, name, ...actor });
  }
}
