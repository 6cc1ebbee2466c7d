import type { Schema } from '../../api/api-types';
import { classes } from '../../design/classes';
import { useFilters } from '../../design/filters';
import { visibleText } from '../../design/visible-text';
import styles from './review.module.css';

interface Group {
  /** Null: entries of which it is not known. */
  readonly name: string | null;
  readonly count: number;
}

/** The entries of one status, counted by reason, event type and source. A group is a filter of the list. */
export function ReviewGroups({ counts }: { readonly counts: Schema<'ReviewSummaryDto'> }) {
  const { total, byReason, bySource, byEventType, status } = counts;
  if (total === 0) return null;
  const reasons = byReason.map(({ reason, count }) => ({ name: reason, count }));
  const sources = bySource.map(({ source, count }) => ({ name: source, count }));
  const types = byEventType.map(({ eventType, count }) => ({ name: eventType, count }));
  return (
    <section aria-label="Groups" className={styles['groups']}>
      <GroupList
        title={`${total.toLocaleString()} ${status}, by reason`}
        filter="reason"
        groups={reasons}
        total={total}
      />
      <GroupList title="By event type" filter="eventType" groups={types} total={total} />
      <GroupList title="By source" filter="source" groups={sources} total={total} />
    </section>
  );
}

interface GroupListProps {
  readonly title: string;
  readonly filter: 'reason' | 'source' | 'eventType';
  readonly groups: readonly Group[];
  readonly total: number;
}

function GroupList({ title, filter, groups, total }: GroupListProps) {
  const [filters, change] = useFilters([filter]);
  return (
    <div className={styles['group']}>
      <h2>{title}</h2>
      <ul>
        {groups.map(({ name, count }) => (
          <li key={name ?? ''}>
            <button
              type="button"
              disabled={name === null || name === ''}
              aria-pressed={name !== null && filters[filter] === name}
              className={classes(filters[filter] === name && styles['chosen'])}
              onClick={() => change({ [filter]: filters[filter] === name ? undefined : (name ?? undefined) })}
            >
              <span title={name === null ? undefined : visibleText(name)}>
                {name === null || name === '' ? 'not known' : visibleText(name)}
              </span>
              <span>{count.toLocaleString()}</span>
              <meter aria-hidden="true" min={0} max={total} value={count} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
