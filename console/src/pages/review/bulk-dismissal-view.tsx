import { api } from '../../api/api';
import { useRead } from '../../api/queries';
import { visibleText } from '../../design/visible-text';
import { BulkJobPage, refreshOf, type BulkJobState } from './bulk-job';

/** A bulk dismissal and how far it is. */
export function BulkDismissalView({ jobId }: { readonly jobId: string }) {
  const query = useRead('/v1/review-dismissals/{jobId}', { path: { jobId } }, { refetchInterval: refreshOf });
  return (
    <BulkJobPage
      title="Bulk dismissal"
      query={query}
      words={WORDS}
      progress={{ label: 'Closed', done: ({ dismissed }) => dismissed }}
      counts={({ note }) => [['Note', visibleText(note ?? '–')]]}
      cancelLabel="Cancel dismissal"
      cancel={(id) => api.post('/v1/review-dismissals/{jobId}:cancel', { path: { jobId: id }, body: {} })}
    />
  );
}

const WORDS: Readonly<Record<BulkJobState, string>> = {
  queued: 'It begins in a moment.',
  running: 'You may leave this page; the dismissal goes on.',
  done: 'All entries were closed, but those that were closed otherwise or occurred again meanwhile.',
  cancelled: 'What was closed stays closed; the other entries are still open.',
  failed: 'It gave up. Start another one for the entries that are still open.',
};
