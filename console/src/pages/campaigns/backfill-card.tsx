import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { Badge, type Tone } from '../../design/badge';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { Properties } from '../../design/page';
import { Progress } from '../../design/progress';
import { Time } from '../../design/time';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import styles from './campaigns.module.css';

type Backfill = Schema<'BackfillDto'>;

const TONES: Readonly<Record<Backfill['state'], Tone>> = {
  queued: 'accent',
  running: 'accent',
  done: 'good',
  cancelled: 'neutral',
  failed: 'bad',
};
const REASONS = {
  reaction_changed: 'The reaction was changed, switched off or deleted meanwhile.',
  gave_up: 'It was tried several times and gave up.',
};

export function BackfillCard({ backfill }: { readonly backfill: Backfill }) {
  const { state, dryRun, from, to, total, scanned, reason } = backfill;
  return (
    <article className={styles['card']} aria-label={dryRun ? 'Dry run' : 'Backfill'}>
      <div className={styles['wrapped']}>
        <strong>{dryRun ? 'Dry run' : 'Backfill'}</strong>
        <Badge tone={TONES[state]}>{state}</Badge>
        <span className={styles['muted']}>
          <Time at={from} exact /> to <Time at={to} exact />, started <Time at={backfill.createdAt} />
        </span>
        <BackfillActions backfill={backfill} />
      </div>
      {reason !== undefined && <p>{REASONS[reason]}</p>}
      <Progress label="Events looked at" done={scanned} total={total} />
      <Properties entries={countsOf(backfill)} />
      {dryRun && state === 'done' && <Sums sums={backfill.sums ?? []} />}
    </article>
  );
}

function countsOf({ dryRun, matched, applied, waiting, skipped, failed }: Backfill) {
  return [
    ['Match', matched.toLocaleString()],
    [dryRun ? 'Would apply' : 'Applied', applied.toLocaleString()],
    ['Wait for customer', waiting.toLocaleString()],
    ['Skipped', skipped.toLocaleString()],
    [dryRun ? 'Would fail' : 'Failed', failed.toLocaleString()],
  ] as const;
}

/** What each variable would change by. */
function Sums({ sums }: { readonly sums: readonly Schema<'VariableSumDto'>[] }) {
  if (sums.length === 0) return <p>No variable would change.</p>;
  return (
    <ul className={styles['changes']}>
      {sums.map(({ path, events, sets, sum }) => (
        <li key={path}>
          <code>{visibleText(path)}</code> would change by{' '}
          {sum === null ? 'more than can be added up' : sum.toLocaleString()}
          {sets > 0 && `, and be set ${sets.toLocaleString()} times`}, in {events.toLocaleString()} events
        </li>
      ))}
    </ul>
  );
}

function BackfillActions({ backfill }: { readonly backfill: Backfill }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<'cancel' | 'apply'>();
  const close = (): void => setAsked(undefined);
  const { campaignId, reaction, jobId, state, dryRun, from, to, applied, waiting, eventsPerSecondMax } = backfill;
  const path = { campaign_id: campaignId, name: reaction };
  if (!useScope('reactions:write')) return null;
  const apply = async (): Promise<void> => {
    const rate = eventsPerSecondMax === undefined ? {} : { eventsPerSecondMax };
    const body = { from, to, ...rate };
    await api.post('/v1/campaigns/{campaign_id}/reactions/{name}:backfill', { path, body });
    showToast({ title: 'The backfill has started.' });
    await client.invalidateQueries();
  };
  const cancel = async (): Promise<void> => {
    const job = { ...path, jobId };
    await api.post('/v1/campaigns/{campaign_id}/reactions/{name}/backfills/{jobId}:cancel', { path: job, body: {} });
    await client.invalidateQueries();
  };
  return (
    <>
      {(state === 'queued' || state === 'running') && <Button onClick={() => setAsked('cancel')}>Cancel</Button>}
      {dryRun && state === 'done' && applied + waiting > 0 && (
        <Button kind="primary" onClick={() => setAsked('apply')}>
          Apply these changes
        </Button>
      )}
      <ConfirmDialog
        title="Cancel this backfill?"
        open={asked === 'cancel'}
        onClose={close}
        action="Cancel backfill"
        onConfirm={cancel}
      >
        <p>It ends where it is. What it has done stays.</p>
      </ConfirmDialog>
      <ConfirmDialog
        title="Apply the reaction to these events?"
        open={asked === 'apply'}
        onClose={close}
        action="Start backfill"
        typed={reaction}
        onConfirm={apply}
      >
        <p>
          {applied.toLocaleString()} events change values, {waiting.toLocaleString()} wait for their customer. It cannot
          be undone. Events that the reaction has come to before are skipped.
        </p>
      </ConfirmDialog>
    </>
  );
}
