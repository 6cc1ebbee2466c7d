import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import { Badge } from '../../design/badge';
import { visibleText } from '../../design/visible-text';
import styles from './review.module.css';

interface EntryLinkProps {
  readonly entry: Schema<'ReviewEntryDto'>;
  /** The filters of the list, which the entry's page goes on with. */
  readonly search: string;
}

/** The reason of an entry, which leads to it. */
export function EntryLink({ entry: { id, reason, severity }, search }: EntryLinkProps) {
  return (
    <span className={styles['reason']}>
      <Link href={`/review/${id}${search}`}>{visibleText(reason)}</Link>
      {severity === 'warning' && <Badge tone="warning">warning</Badge>}
    </span>
  );
}
