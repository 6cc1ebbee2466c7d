import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { Badge, type Tone } from '../../design/badge';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { Properties } from '../../design/page';
import { Progress } from '../../design/progress';
import { Time } from '../../design/time';
import { useScope } from '../../shell/session-context';
import styles from './webhooks.module.css';

type Replay = Schema<'WebhookReplayDto'>;

const TONES: Readonly<Record<Replay['state'], Tone>> = {
  queued: 'accent',
  running: 'accent',
  done: 'good',
  cancelled: 'neutral',
  failed: 'bad',
};
const REASONS = {
  webhook_changed: 'The rules of the endpoint were changed meanwhile.',
  gave_up: 'It was tried several times and gave up.',
};

export function isUnfinished({ state }: Replay): boolean {
  return state === 'queued' || state === 'running';
}

export function ReplayCard({ replay }: { readonly replay: Replay }) {
  const { state, from, to, total, scanned, reason, createdAt } = replay;
  return (
    <article className={styles['card']} aria-label="Replay">
      <div className={styles['wrapped']}>
        <strong>Replay</strong>
        <Badge tone={TONES[state]}>{state}</Badge>
        <span className={styles['muted']}>
          <Time at={from} exact /> to <Time at={to} exact />, started <Time at={createdAt} />
        </span>
        <CancelReplay replay={replay} />
      </div>
      {reason !== undefined && <p>{REASONS[reason]}</p>}
      <Progress label="Events looked at" done={scanned} total={total} />
      <Properties
        entries={[
          ['Queued', replay.queued.toLocaleString()],
          ['Waited anyway', replay.alreadyQueued.toLocaleString()],
          ['Skipped', replay.skipped.toLocaleString()],
          ['Failed', replay.failed.toLocaleString()],
          ['Expired', replay.expired.toLocaleString()],
        ]}
      />
    </article>
  );
}

function CancelReplay({ replay }: { readonly replay: Replay }) {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const { webhookId: id, jobId } = replay;
  if (!useScope('webhooks:write') || !isUnfinished(replay)) return null;
  return (
    <>
      <Button onClick={() => setAsked(true)}>Cancel</Button>
      <ConfirmDialog
        title="Cancel this replay?"
        open={isAsked}
        onClose={() => setAsked(false)}
        action="Cancel replay"
        onConfirm={async () => {
          await api.post('/v1/webhooks/{id}/replays/{jobId}:cancel', { path: { id, jobId }, body: {} });
          await client.invalidateQueries({ queryKey: ['/v1/webhooks/{id}/replays'] });
        }}
      >
        <p>It ends where it is. What it has queued is delivered.</p>
      </ConfirmDialog>
    </>
  );
}
