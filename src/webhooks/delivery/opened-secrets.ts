import { LRUCache } from 'lru-cache';
import type { SecretBox } from '../../platform/secrets/secret-box';
import { openSecrets, type SealedSecrets } from './signed-headers';

/** Endpoints whose secrets are held in memory. */
const ENDPOINTS_MAX = 1_000;

interface Opened {
  /** What was opened. A rotation makes another text of it. */
  readonly sealed: string;
  readonly secrets: readonly string[];
}

/** The secrets of endpoints that were used lately: opening one costs as much as signing with it. */
export class OpenedSecrets {
  private readonly known = new LRUCache<string, Opened>({ max: ENDPOINTS_MAX });

  constructor(private readonly box: SecretBox) {}

  /** As `openSecrets`. */
  of(endpoint: SealedSecrets): readonly string[] {
    const { endpointId, secret, previousSecret, olderSecret } = endpoint;
    const sealed = [secret, previousSecret, olderSecret].map((each) => each?.toString('base64') ?? '').join();
    const known = this.known.get(endpointId);
    if (known?.sealed === sealed) return known.secrets;
    const secrets = openSecrets(this.box, endpoint);
    this.known.set(endpointId, { sealed, secrets });
    return secrets;
  }
}
