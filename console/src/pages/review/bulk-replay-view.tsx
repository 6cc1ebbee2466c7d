import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useRead } from '../../api/queries';
import { Badge, type Tone } from '../../design/badge';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { Page, Properties } from '../../design/page';
import { Progress } from '../../design/progress';
import { Failed, Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';

type Replay = Schema<'ReviewReplayDto'>;

const REFRESH_MS = 1_000;

const TONES: Readonly<Record<Replay['state'], Tone>> = {
  queued: 'neutral',
  running: 'accent',
  done: 'good',
  cancelled: 'warning',
  failed: 'bad',
};

/** A bulk replay and how far it is. Its address can be opened again while it runs. */
export function BulkReplayView({ jobId }: { readonly jobId: string }) {
  const client = useQueryClient();
  const options = { path: { jobId } };
  const query = useRead('/v1/review-replays/{jobId}', options, {
    refetchInterval: ({ state: { data } }) => isRunning(data as Replay | undefined) && REFRESH_MS,
  });
  const isOver = query.data !== undefined && !isRunning(query.data);
  useEffect(() => {
    if (isOver) void client.invalidateQueries({ predicate: ({ queryKey: [path] }) => LISTS.has(path) });
  }, [client, isOver]);
  return (
    <Page title="Bulk replay">
      <p>
        <Link href="/review">Review</Link>
      </p>
      <Loaded query={query}>{(replay) => <ReplayView replay={replay} onChange={() => void query.refetch()} />}</Loaded>
    </Page>
  );
}

const LISTS: ReadonlySet<unknown> = new Set(['/v1/review-entries', '/v1/review-entries:summary']);

function isRunning(replay: Replay | undefined): boolean {
  return replay?.state === 'queued' || replay?.state === 'running';
}

function ReplayView({ replay, onChange }: { readonly replay: Replay; readonly onChange: () => void }) {
  const { jobId, state, total, done, accepted, duplicate, failed, filter, createdAt, finishedAt } = replay;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const mayCancel = useScope('review:write');
  const cancel = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    await api.post('/v1/review-replays/{jobId}:cancel', { path: { jobId }, body: {} }).catch(setError);
    setBusy(false);
    onChange();
  };
  const shown = Object.entries(filter).map(([name, value]) => `${name} ${visibleText(value)}`);
  return (
    <>
      <p role="status">
        <Badge tone={TONES[state]}>{state}</Badge> {WORDS[state]}
      </p>
      <Progress label="Sent again" done={done} total={total} />
      <Properties
        entries={[
          ['Accepted', accepted.toLocaleString()],
          ['Duplicate', duplicate.toLocaleString()],
          ['Refused again', failed.toLocaleString()],
          ['Filter', shown.join(', ')],
          ['Started', <Time key="started" at={createdAt} />],
          ['Finished', <Time key="finished" at={finishedAt} />],
          ['Replay', <CopyableId key="id" id={jobId} what="replay id" />],
        ]}
      />
      {error !== undefined && <Failed error={error} />}
      <p>
        {isRunning(replay) && mayCancel && (
          <Button busy={isBusy} onClick={() => void cancel()}>
            Cancel replay
          </Button>
        )}
        {!isRunning(replay) && <Link href={openOf(filter)}>Entries of this filter that are still open</Link>}
      </p>
    </>
  );
}

const WORDS: Readonly<Record<Replay['state'], string>> = {
  queued: 'It begins in a moment.',
  running: 'You may leave this page; the replay goes on.',
  done: 'All entries were sent.',
  cancelled: 'What was sent stays; the other entries are still open.',
  failed: 'It gave up. Start another one for the entries that are still open.',
};

function openOf({ status: _status, ...others }: Replay['filter']): string {
  const search = new URLSearchParams(others).toString();
  return search === '' ? '/review' : `/review?${search}`;
}
