import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { lengthPrefixed } from '../values/ids';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The version of the encrypted format, for later formats. */
const FORM = 1;
const PURPOSE = 'campaign-data-service sealed secrets';
const HASH_PURPOSE = 'campaign-data-service keyed hashes';
const CHECK_PURPOSE = 'campaign-data-service key check';

/** The service has no SECRETS_KEY, or the secret was encrypted with another key. */
export class SecretBoxError extends Error {}

/**
 * Encrypts secrets that must be read back (contract section 2) with SECRETS_KEY. A secret can only be decrypted for its own
 * record, so that a writer in the database cannot move it to another record.
 */
@Injectable()
export class SecretBox {
  private readonly key: Buffer | undefined;
  private readonly hashKey: Buffer | undefined;
  private readonly check: Buffer | undefined;

  constructor(@Inject(SETTINGS_TOKEN) { secretsKey }: Pick<Settings, 'secretsKey'>) {
    // Independent keys per purpose.
    const keyFor = (purpose: string) =>
      secretsKey === undefined ? undefined : Buffer.from(hkdfSync('sha256', secretsKey, '', purpose, KEY_BYTES));
    this.key = keyFor(PURPOSE);
    this.hashKey = keyFor(HASH_PURPOSE);
    this.check = keyFor(CHECK_PURPOSE);
  }

  /** Whether there is a key: without one nothing can be sealed. */
  get canSeal(): boolean {
    return this.key !== undefined;
  }

  /** Tells this key from every other one, and nothing about it: 32 bytes. Throws SecretBoxError without a key. */
  get checkValue(): Buffer {
    if (this.check === undefined) throw new SecretBoxError('There is no key to check: set SECRETS_KEY.');
    return this.check;
  }

  /** Encrypts `secret` for the record of this workspace and id. Throws SecretBoxError without a key. */
  seal(secret: string, tenantId: string, id: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.keyOrThrow(), nonce).setAAD(context(tenantId, id));
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(FORM), nonce, cipher.getAuthTag(), sealed]);
  }

  /** Throws SecretBoxError when the secret was sealed under another key or for another record. */
  open(sealed: Buffer, tenantId: string, id: string): string {
    const key = this.keyOrThrow();
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
    const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
    try {
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(context(tenantId, id)).setAuthTag(tag);
      const opened = decipher.update(sealed.subarray(1 + NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([opened, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SecretBoxError('A stored secret cannot be read: SECRETS_KEY is not the one it was sealed under.', {
        cause,
      });
    }
  }

  /**
   * A keyed hash of a list of texts (32 bytes). Without SECRETS_KEY guesses cannot be tested against it. Throws SecretBoxError
   * without a key.
   */
  keyedHash(parts: readonly string[]): Buffer {
    if (this.hashKey === undefined) throw new SecretBoxError('Nothing can be recognised by its hash: set SECRETS_KEY.');
    return createHmac('sha256', this.hashKey).update(lengthPrefixed(parts)).digest();
  }

  private keyOrThrow(): Buffer {
    if (this.key === undefined) throw new SecretBoxError('A stored secret cannot be read or written: set SECRETS_KEY.');
    return this.key;
  }
}

function context(tenantId: string, id: string): Buffer {
  return Buffer.from(`${tenantId}/${id}`);
}
