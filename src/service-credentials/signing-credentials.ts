import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../platform/values/clock';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import { InvalidatingCache, type CacheableRead } from '../platform/invalidation/invalidating-cache';
import { NegativeCache } from '../platform/invalidation/negative-cache';
import { DomainError } from '../platform/errors/domain-error';
import { isUuid } from '../platform/values/uuid';
import { SecretBox, SecretBoxError } from '../platform/secrets/secret-box';
import { signatureRefused } from './domain/structured-dictionary';
import { ed25519Key, hmacKey, type VerifyingKey } from './domain/request-signature';
import type { ServiceCredential } from './entities/service-credential.entity';
import { ServiceCredentialRepository } from './service-credential.repository';

/** A credential in force, with its key decrypted. */
export interface SigningCredential {
  readonly tenantId: string;
  readonly id: string;
  readonly lastUsedAt: Date | null;
  readonly key: VerifyingKey;
}

/** More credentials than sign requests to one node in a minute. The least recently used ones are evicted. */
const CREDENTIALS_MAX = 10_000;
/** Nothing changes before an operator has read the log. */
const SEALED_RETRY_SECONDS = 30;

/** Finds the credentials that signatures name, and caches each until a node revokes it (see `InvalidationFeed`). */
@Injectable()
export class SigningCredentials {
  private readonly logger = new Logger(SigningCredentials.name);
  private readonly memory: InvalidatingCache<SigningCredential>;

  constructor(
    private readonly credentials: ServiceCredentialRepository,
    private readonly box: SecretBox,
    feed: InvalidationFeed,
    clock: Clock,
  ) {
    const refused = new NegativeCache('service_credential', feed, clock);
    this.memory = new InvalidatingCache(feed, clock, CREDENTIALS_MAX, refused);
  }

  /**
   * Throws `invalid_signature` when the credential is unknown or revoked, and `unavailable` when its secret cannot be
   * decrypted.
   */
  async find(keyId: string): Promise<SigningCredential> {
    if (!isUuid(keyId)) throw unknownCredential();
    // One cache entry per id: with all spellings of one id, a client could evict the entries of others.
    const id = keyId.toLowerCase();
    return this.memory.recall(id) ?? this.memory.learn(id, () => this.read(id));
  }

  private async read(id: string): Promise<CacheableRead<SigningCredential>> {
    const found = await this.credentials.findByKeyId(id);
    if (found === null) throw unknownCredential();
    if (found.revokedAt !== null) throw signatureRefused('The service credential that keyid names was revoked.');
    const { tenantId, lastUsedAt } = found;
    return { value: { tenantId, id, lastUsedAt, key: this.keyOf(found) }, subject: credentialSubject(found) };
  }

  private keyOf({ tenantId, id, publicKey, secret }: ServiceCredential): VerifyingKey {
    if (publicKey !== null) return ed25519Key(publicKey);
    if (secret === null) throw new Error('A service credential is stored without a key');
    try {
      return hmacKey(this.box.open(secret, tenantId, id));
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      this.logger.error(`The secret of service credential ${id} cannot be decrypted. ${error.message}`);
      const words =
        'The service cannot decrypt the secret of this service credential now. Its operator has to restore SECRETS_KEY.';
      throw new DomainError('unavailable', words, { retryAfterSeconds: SEALED_RETRY_SECONDS });
    }
  }
}

/** The subject that is announced when a credential is revoked. */
export function credentialSubject({ tenantId, id }: Pick<ServiceCredential, 'tenantId' | 'id'>): InvalidationSubject {
  return { tenantId, kind: 'service_credential', id };
}

function unknownCredential(): DomainError {
  return signatureRefused('The signature names an unknown service credential: keyid must be the id of one.');
}
