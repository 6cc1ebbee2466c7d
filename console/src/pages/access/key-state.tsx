import { Badge, type Tone } from '../../design/badge';
import { useNow } from '../../design/clock';
import type { ApiKey } from './create-key-form';

const TONES = { ACTIVE: 'good', EXPIRED: 'neutral', REVOKED: 'neutral' } as const satisfies Record<string, Tone>;
/** Time enough to bring a new key to where the old one is. */
const SOON_MS = 7 * 86_400_000;

interface KeyStateProps {
  readonly apiKey: Pick<ApiKey, 'state' | 'expiresAt'>;
}

export function KeyState({ apiKey: { state, expiresAt } }: KeyStateProps) {
  const now = useNow();
  const isEnding = state === 'ACTIVE' && expiresAt !== null && new Date(expiresAt).getTime() - now < SOON_MS;
  return isEnding ? <Badge tone="warning">EXPIRES SOON</Badge> : <Badge tone={TONES[state]}>{state}</Badge>;
}
