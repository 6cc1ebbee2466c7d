import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of the form in which secrets are sealed, so that another form can be told from it some day. */
const FORM = 1;
const PURPOSE = 'campaign-data-service sealed secrets';

/** The service has no SECRETS_KEY, or secrets were sealed under another one. */
export class SecretBoxError extends Error {}

/**
 * Seals secrets that must be read back (contract section 2) under SECRETS_KEY. A sealed secret opens only for the record
 * it was sealed for, so that nobody who can write to the database can move one to another record.
 */
@Injectable()
export class SecretBox {
  private readonly key: Buffer | undefined;

  constructor(@Inject(SETTINGS_TOKEN) { secretsKey }: Settings) {
    this.key =
      secretsKey === undefined ? undefined : Buffer.from(hkdfSync('sha256', secretsKey, '', PURPOSE, KEY_BYTES));
  }

  /** Whether there is a key: without one nothing can be sealed. */
  get canSeal(): boolean {
    return this.key !== undefined;
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

  private keyOrThrow(): Buffer {
    if (this.key === undefined) throw new SecretBoxError('A stored secret cannot be read or written: set SECRETS_KEY.');
    return this.key;
  }
}

function context(tenantId: string, id: string): Buffer {
  return Buffer.from(`${tenantId}/${id}`);
}
