import { api } from '../../api/api';
import { useRead } from '../../api/queries';
import { BulkJobPage, refreshOf, type BulkJobState } from './bulk-job';

/** A bulk replay and how far it is. */
export function BulkReplayView({ jobId }: { readonly jobId: string }) {
  const query = useRead('/v1/review-replays/{jobId}', { path: { jobId } }, { refetchInterval: refreshOf });
  return (
    <BulkJobPage
      title="Bulk replay"
      query={query}
      words={WORDS}
      progress={{ label: 'Sent again', done: ({ done }) => done }}
      counts={({ accepted, duplicate, failed }) => [
        ['Accepted', accepted.toLocaleString()],
        ['Duplicate', duplicate.toLocaleString()],
        ['Refused again', failed.toLocaleString()],
      ]}
      cancelLabel="Cancel replay"
      cancel={(id) => api.post('/v1/review-replays/{jobId}:cancel', { path: { jobId: id }, body: {} })}
    />
  );
}

const WORDS: Readonly<Record<BulkJobState, string>> = {
  queued: 'It begins in a moment.',
  running: 'You may leave this page; the replay goes on.',
  done: 'All entries were sent.',
  cancelled: 'What was sent stays; the other entries are still open.',
  failed: 'It gave up. Start another one for the entries that are still open.',
};
