import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { isUnfinished, JobCard } from '../../design/job-card';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import styles from './campaigns.module.css';
import { ValueText } from './values';

type Backfill = Schema<'BackfillDto'>;

const REASONS = {
  reaction_changed: 'The reaction was changed, switched off or deleted meanwhile.',
  gave_up: 'It was tried several times and gave up.',
};

export function BackfillCard({ backfill }: { readonly backfill: Backfill }) {
  const { dryRun, state, reason, sums = [] } = backfill;
  return (
    <JobCard
      title={dryRun ? 'Dry run' : 'Backfill'}
      job={backfill}
      reason={reason && REASONS[reason]}
      counts={[
        ['Match', backfill.matched],
        [dryRun ? 'Would apply' : 'Applied', backfill.applied],
        ['Wait for customer', backfill.waiting],
        ['Skipped', backfill.skipped],
        [dryRun ? 'Would fail' : 'Failed', backfill.failed],
      ]}
      actions={<BackfillActions backfill={backfill} />}
    >
      {dryRun && state === 'done' && <Sums sums={sums} />}
    </JobCard>
  );
}

/** What each variable would change by. */
function Sums({ sums }: { readonly sums: readonly Schema<'VariableSumDto'>[] }) {
  if (sums.length === 0) return <p>No variable would change.</p>;
  return (
    <ul className={styles['changes']}>
      {sums.map(({ path, events, sets, sum }) => (
        <li key={path}>
          <code>{visibleText(path)}</code> would change by{' '}
          {/* Exactly: it may be smaller than what numbers for readers are rounded to. */}
          {sum === null ? 'more than can be added up' : <ValueText value={sum} />}
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
      {isUnfinished(backfill) && <Button onClick={() => setAsked('cancel')}>Cancel</Button>}
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
