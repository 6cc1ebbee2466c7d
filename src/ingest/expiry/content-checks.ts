import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../platform/secrets/secret-box';

const PURPOSE = 'expired content';

/**
 * What is kept of the content of an expired event: 64 bits of a hash under SECRETS_KEY. It tells a repetition from another
 * fact under the same id. Without the key no guess can be tried on it, because it also stays when the person is erased.
 */
@Injectable()
export class ContentChecks {
  constructor(private readonly box: SecretBox) {}

  /** Of an event with this content hash, as the database writes a bigint; null without SECRETS_KEY. */
  of(eventId: string, contentHash: string): string | null {
    if (!this.box.canSeal) return null;
    return this.box.keyedHash([PURPOSE, eventId, contentHash]).readBigInt64BE(0).toString();
  }
}
