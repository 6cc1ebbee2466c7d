import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries';
import { Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import styles from './overview.module.css';

const REFRESH_MS = 10_000;
const REASONS_SHOWN = 5;

/** What waits for the service, and what waits for a person. */
export function WorkFigures() {
  const queue = useRead('/v1/processing/summary', {}, { refetchInterval: REFRESH_MS });
  const review = useRead('/v1/review-entries:summary', { query: { status: 'open' } }, { refetchInterval: REFRESH_MS });
  return (
    <div className={styles['work']}>
      <Section title="Queue">
        <Loaded query={queue}>
          {({ queued, oldestQueuedAt, processedLastMinute, failed }) => (
            <dl className={styles['figures']}>
              <Figure name="Waiting" value={queued} />
              <Figure name="Oldest" value={<Time at={oldestQueuedAt} />} />
              <Figure name="Processed in the last minute" value={processedLastMinute} />
              <Figure name="Failed for good" value={failed} isBad={failed > 0} />
            </dl>
          )}
        </Loaded>
      </Section>
      <Section title="Review">
        <Loaded query={review}>
          {({ total, byReason }) => (
            <dl className={styles['figures']}>
              <Figure name="Open entries" value={<Link href="/review">{total.toLocaleString()}</Link>} />
              {byReason.slice(0, REASONS_SHOWN).map(({ reason, count }) => (
                <Figure
                  key={reason}
                  name={reason}
                  value={<Link href={`/review?reason=${encodeURIComponent(reason)}`}>{count.toLocaleString()}</Link>}
                />
              ))}
            </dl>
          )}
        </Loaded>
      </Section>
    </div>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: ReactNode;
  readonly isBad?: boolean;
}

function Figure({ name, value, isBad = false }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={isBad ? styles['refused'] : undefined}>
        {typeof value === 'number' ? value.toLocaleString() : value}
      </dd>
    </div>
  );
}
