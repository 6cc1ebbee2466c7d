import { createHmac, randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { lengthPrefixed, uuidOfDigest } from '../values/ids';
import { SecretBox } from './secret-box';

const PURPOSE = 'ids';
const KEY_BYTES = 32;

/**
 * Ids made from content that must not be guessed from them. The key is derived from SECRETS_KEY; without one it is a random
 * key of the installation in the database. Either is the same in every process, so that equal parts get equal ids everywhere.
 */
@Injectable()
export class KeyedIds implements OnModuleInit {
  private key: Buffer | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly box: SecretBox,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.box.canSeal) this.key = await this.installationKey();
  }

  /** A name-based UUIDv8 out of HMAC-SHA256. Other parts give another id; no part may hold a lone surrogate. */
  of(parts: readonly string[]): string {
    // The first part keeps these hashes apart from all others under the same key.
    const named = [PURPOSE, ...parts];
    if (this.box.canSeal) return uuidOfDigest(this.box.keyedHash(named).toString('hex'));
    if (this.key === undefined) throw new Error('The key of the installation is read at start');
    return uuidOfDigest(createHmac('sha256', this.key).update(lengthPrefixed(named)).digest('hex'));
  }

  /** Made by whichever process comes first. */
  private async installationKey(): Promise<Buffer> {
    await this.database.query(
      `INSERT INTO installation_keys (purpose, key) VALUES ($1, $2)
       ON CONFLICT ON CONSTRAINT installation_keys_pkey DO NOTHING`,
      [PURPOSE, randomBytes(KEY_BYTES)],
    );
    const [row]: { key: Buffer }[] = await this.database.query('SELECT key FROM installation_keys WHERE purpose = $1', [
      PURPOSE,
    ]);
    if (row === undefined) throw new Error('The key of the installation was made and is not there');
    return row.key;
  }
}
