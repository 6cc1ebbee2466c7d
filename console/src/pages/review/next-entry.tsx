import { Link } from 'wouter';
import { useRead } from '../../api/queries';
import { Failed } from '../../design/state-views';
import { visibleText } from '../../design/visible-text';
import { useReviewSelection } from './review-filters';

/** After an entry is closed: the way to the next open one of the same list. */
export function NextEntry() {
  const { query, search } = useReviewSelection();
  const { data, error, refetch } = useRead('/v1/review-entries', { query: { ...query, status: 'open', limit: 1 } });
  const next = data?.items[0];
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  if (next === undefined && data.nextCursor !== null) return <p>See the list for older entries.</p>;
  if (next === undefined) return <p>No entry of this list is open.</p>;
  return (
    <p>
      Next open entry: <Link href={`/review/${next.id}${search}`}>{visibleText(next.reason)}</Link>
    </p>
  );
}
