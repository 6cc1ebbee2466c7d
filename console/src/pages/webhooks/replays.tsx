import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useList } from '../../api/queries';
import { Button } from '../../design/button';
import { currentTime } from '../../design/clock';
import { Curl } from '../../design/code-block';
import { ActionForm, FieldColumns } from '../../design/form';
import { isUnfinished } from '../../design/job-card';
import { Muted, Stack } from '../../design/layout';
import { ReceiptRangeFields, useReceiptRange } from '../../design/receipt-range';
import { Empty, Failed, Loading } from '../../design/state-views';
import { useScope } from '../../shell/session-context';
import { ReplayCard } from './replay-card';
import type { Webhook } from './webhook-state';

const REFRESH_MS = 1_000;
const HOUR_MS = 3_600_000;

interface ReplaysProps {
  readonly webhook: Webhook;
}

/** Sends stored events of a time range again, and shows how far that is. */
export function Replays({ webhook: { id } }: ReplaysProps) {
  const mayWrite = useScope('webhooks:write');
  const [isWatched, setWatched] = useState(false);
  const list = useList(
    '/v1/webhooks/{id}/replays',
    { path: { id } },
    { refetchInterval: isWatched ? REFRESH_MS : false },
  );
  const isRunning = list.items.some(isUnfinished);
  if (isWatched !== isRunning) setWatched(isRunning);
  return (
    <Stack>
      {mayWrite && <ReplayForm id={id} />}
      {list.isPending && <Loading />}
      {list.error !== null && <Failed error={list.error} onRetry={list.retry} />}
      {!list.isPending && list.error === null && list.items.length === 0 && <NoReplays id={id} />}
      {list.items.map((replay) => (
        <ReplayCard key={replay.jobId} replay={replay} />
      ))}
      {list.hasMore && (
        <div>
          <Button onClick={list.loadMore} busy={list.isLoadingMore}>
            Show more
          </Button>
        </div>
      )}
    </Stack>
  );
}

function ReplayForm({ id }: { readonly id: string }) {
  const client = useQueryClient();
  const range = useReceiptRange(() => new Date(currentTime().getTime() - HOUR_MS));
  const start = async (): Promise<void> => {
    await api.post('/v1/webhooks/{id}:replay', { path: { id }, body: range.times });
    await client.invalidateQueries();
  };
  return (
    <ActionForm action="Start replay" kind="normal" onSubmit={start}>
      <Muted>
        Sends the stored events of a time range that fit the rules, also those that were delivered before. They keep
        their webhook-id, so that the receiver can tell repetitions.
      </Muted>
      <FieldColumns>
        <ReceiptRangeFields range={range} />
      </FieldColumns>
    </ActionForm>
  );
}

function NoReplays({ id }: { readonly id: string }) {
  return (
    <Empty title="Nothing was replayed yet">
      <Curl
        method="POST"
        path={`/v1/webhooks/${id}:replay`}
        body={{ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }}
      />
    </Empty>
  );
}
