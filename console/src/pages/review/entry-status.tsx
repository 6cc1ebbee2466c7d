import type { Schema } from '../../api/api-types';
import { Badge, type Tone } from '../../design/badge';

type Status = Schema<'ReviewStatus'>;

const TONES: Readonly<Record<Status, Tone>> = {
  open: 'accent',
  replayed: 'good',
  dismissed: 'neutral',
  superseded: 'good',
};

export function EntryStatus({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}
