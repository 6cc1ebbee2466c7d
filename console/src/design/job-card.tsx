import type { ReactNode } from 'react';
import { Badge, type Tone } from './badge';
import styles from './layout.module.css';
import { Properties } from './page';
import { Progress } from './progress';
import { Time } from './time';

type JobState = 'queued' | 'running' | 'done' | 'cancelled' | 'failed';

const TONES: Readonly<Record<JobState, Tone>> = {
  queued: 'accent',
  running: 'accent',
  done: 'good',
  cancelled: 'neutral',
  failed: 'bad',
};

export function isUnfinished({ state }: { readonly state: JobState }): boolean {
  return state === 'queued' || state === 'running';
}

interface JobCardProps {
  readonly title: string;
  /** Of events that were received in this range. Total: null while they are being counted. */
  readonly job: {
    readonly state: JobState;
    readonly from: string;
    readonly to: string;
    readonly createdAt: string;
    readonly scanned: number;
    readonly total: number | null;
  };
  /** Why it ended early. */
  readonly reason: string | undefined;
  readonly counts: readonly (readonly [name: string, count: number])[];
  readonly actions: ReactNode;
  /** What came of it, below the counts. */
  readonly children?: ReactNode;
}

/** A job that goes through stored events, with its progress. */
export function JobCard({ title, job, reason, counts, actions, children }: JobCardProps) {
  const { state, from, to, createdAt, scanned, total } = job;
  return (
    <article className={styles['card']} aria-label={title}>
      <div className={styles['inline']}>
        <strong>{title}</strong>
        <Badge tone={TONES[state]}>{state}</Badge>
        <span className={styles['muted']}>
          <Time at={from} exact /> to <Time at={to} exact />, started <Time at={createdAt} />
        </span>
        {actions}
      </div>
      {reason !== undefined && <p>{reason}</p>}
      <Progress label="Events looked at" done={scanned} total={total} />
      <Properties entries={counts.map(([name, count]) => [name, count.toLocaleString()])} />
      {children}
    </article>
  );
}
