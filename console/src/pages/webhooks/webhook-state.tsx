import type { Schema } from '../../api/api-types';
import { Badge } from '../../design/badge';

export type Webhook = Schema<'WebhookDto'>;

const DISABLED = {
  manual: 'off',
  gone: 'off: it answered 410',
  failing: 'off: it failed for 5 days',
} as const;

interface WebhookStateProps {
  readonly webhook: Pick<Webhook, 'enabled' | 'disabledReason' | 'failingSince'>;
}

export function WebhookState({ webhook: { enabled, disabledReason, failingSince } }: WebhookStateProps) {
  if (enabled) return failingSince === null ? <Badge tone="good">on</Badge> : <Badge tone="bad">failing</Badge>;
  const reason = disabledReason ?? 'manual';
  return <Badge tone={reason === 'manual' ? 'neutral' : 'bad'}>{DISABLED[reason]}</Badge>;
}
