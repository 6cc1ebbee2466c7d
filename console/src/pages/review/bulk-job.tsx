import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import { Badge, type Tone } from '../../design/badge';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { Page, Properties } from '../../design/page';
import { Progress } from '../../design/progress';
import { Failed, Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';

export type BulkJobState = 'queued' | 'running' | 'done' | 'cancelled' | 'failed';

/** What bulk replays and bulk dismissals have in common. */
interface BulkJob {
  readonly jobId: string;
  readonly state: BulkJobState;
  readonly total: number;
  readonly filter: Schema<'ReplayFilterDto'>;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

const REFRESH_MS = 1_000;

const TONES: Readonly<Record<BulkJobState, Tone>> = {
  queued: 'neutral',
  running: 'accent',
  done: 'good',
  cancelled: 'warning',
  failed: 'bad',
};

/** How often a job is read again: until it is over. */
export function refreshOf({ state: { data } }: { readonly state: { readonly data: unknown } }): number | false {
  return isRunning(data as BulkJob | undefined) && REFRESH_MS;
}

interface BulkJobPageProps<T extends BulkJob> {
  readonly title: string;
  readonly query: UseQueryResult<T>;
  /** What each state means for the entries. */
  readonly words: Readonly<Record<BulkJobState, string>>;
  readonly progress: { readonly label: string; readonly done: (job: T) => number };
  readonly counts: (job: T) => readonly (readonly [name: string, value: ReactNode])[];
  readonly cancelLabel: string;
  readonly cancel: (jobId: string) => Promise<unknown>;
}

/** A job over many entries and how far it is. Its address can be opened again while it runs. */
export function BulkJobPage<T extends BulkJob>({ title, query, ...shown }: BulkJobPageProps<T>) {
  const client = useQueryClient();
  const isOver = query.data !== undefined && !isRunning(query.data);
  useEffect(() => {
    if (isOver) void client.invalidateQueries({ predicate: ({ queryKey: [path] }) => LISTS.has(path) });
  }, [client, isOver]);
  return (
    <Page title={title} back={{ href: '/review', label: 'All open entries' }}>
      <Loaded query={query}>
        {(job) => <BulkJobView job={job} onChange={() => void query.refetch()} {...shown} />}
      </Loaded>
    </Page>
  );
}

const LISTS: ReadonlySet<unknown> = new Set(['/v1/review-entries', '/v1/review-entries:summary']);

interface BulkJobViewProps<T extends BulkJob> extends Omit<BulkJobPageProps<T>, 'title' | 'query'> {
  readonly job: T;
  readonly onChange: () => void;
}

function BulkJobView<T extends BulkJob>(props: BulkJobViewProps<T>) {
  const { job, words, progress, counts, cancelLabel, cancel: cancelJob, onChange } = props;
  const { jobId, state, total, filter, createdAt, finishedAt } = job;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const mayCancel = useScope('review:write');
  const cancel = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    await cancelJob(jobId).catch(setError);
    setBusy(false);
    onChange();
  };
  return (
    <>
      <p role="status">
        <Badge tone={TONES[state]}>{state}</Badge> {words[state]}
      </p>
      <Progress label={progress.label} done={progress.done(job)} total={total} />
      <Properties
        entries={[
          ...counts(job),
          [
            'Filter',
            filterEntries(filter)
              .map(([name, value]) => `${name.toLowerCase()} ${value}`)
              .join(', '),
          ],
          ['Started', <Time key="started" at={createdAt} />],
          ['Finished', <Time key="finished" at={finishedAt} />],
          ['Job', <CopyableId key="id" id={jobId} what="job id" />],
        ]}
      />
      {error !== undefined && <Failed error={error} />}
      <p>
        {isRunning(job) && mayCancel && (
          <Button busy={isBusy} onClick={() => void cancel()}>
            {cancelLabel}
          </Button>
        )}
        {!isRunning(job) && <Link href={openOf(filter)}>Entries of this filter that are still open</Link>}
      </p>
    </>
  );
}

const FILTER_NAMES: Readonly<Record<keyof BulkJob['filter'], string>> = {
  status: 'Status',
  reason: 'Reason',
  eventType: 'Event type',
  source: 'Source',
  stage: 'Stage',
};

/** A filter in words. Without a status it selects open entries. */
export function filterEntries(filter: BulkJob['filter']): readonly (readonly [name: string, value: string])[] {
  const given = { status: 'open', ...filter } as const;
  const names = Object.keys(FILTER_NAMES) as (keyof BulkJob['filter'])[];
  return names.flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [[FILTER_NAMES[name], visibleText(value)] as const];
  });
}

function isRunning(job: BulkJob | undefined): boolean {
  return job?.state === 'queued' || job?.state === 'running';
}

function openOf({ status: _status, ...others }: BulkJob['filter']): string {
  const search = new URLSearchParams(others).toString();
  return search === '' ? '/review' : `/review?${search}`;
}
