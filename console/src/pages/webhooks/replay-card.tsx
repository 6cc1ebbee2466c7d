import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { isUnfinished, JobCard } from '../../design/job-card';
import { useScope } from '../../shell/session-context';

type Replay = Schema<'WebhookReplayDto'>;

const REASONS = {
  webhook_changed: 'The rules of the endpoint were changed meanwhile.',
  gave_up: 'It was tried several times and gave up.',
};

export function ReplayCard({ replay }: { readonly replay: Replay }) {
  const { reason } = replay;
  return (
    <JobCard
      title="Replay"
      job={replay}
      reason={reason && REASONS[reason]}
      counts={[
        ['Queued', replay.queued],
        ['Waited anyway', replay.alreadyQueued],
        ['Skipped', replay.skipped],
        ['Failed', replay.failed],
        ['Expired', replay.expired],
      ]}
      actions={<CancelReplay replay={replay} />}
    />
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
