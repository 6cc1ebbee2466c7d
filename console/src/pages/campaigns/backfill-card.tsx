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
import type { Reaction } from './reactions-tab';
import { ValueText } from './values';

type Backfill = Schema<'BackfillDto'>;

const REASONS = {
  reaction_changed: 'The reaction was changed, switched off or deleted meanwhile.',
  gave_up: 'It was tried several times and gave up.',
};

const OUTDATED = 'The reaction was changed since this dry run. Make another one.';

interface BackfillCardProps {
  readonly backfill: Backfill;
  readonly reaction: Reaction;
}

/** A dry run says what the definition of its time would do; another one does something else, which cannot be undone. */
function isOutdated({ createdAt }: Backfill, { updatedAt }: Reaction): boolean {
  return new Date(updatedAt) > new Date(createdAt);
}

export function BackfillCard({ backfill, reaction }: BackfillCardProps) {
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
      actions={<BackfillActions backfill={backfill} reaction={reaction} />}
    >
      {dryRun && state === 'done' && <Sums sums={sums} />}
      {dryRun && state === 'done' && isOutdated(backfill, reaction) && <p>{OUTDATED}</p>}
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

function BackfillActions({ backfill, reaction: shown }: BackfillCardProps) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<'cancel' | 'apply'>();
  const close = (): void => setAsked(undefined);
  const { campaignId, reaction, jobId, state, dryRun, from, to, applied, waiting, eventsPerSecondMax } = backfill;
  const path = { campaign_id: campaignId, name: reaction };
  if (!useScope('reactions:write')) return null;
  const apply = async (): Promise<void> => {
    const rate = eventsPerSecondMax === undefined ? {} : { eventsPerSecondMax };
    const body = { from, to, ...rate };
    // The page may be older than the last change.
    const current = await api.get('/v1/campaigns/{campaign_id}/reactions/{name}', { path });
    if (isOutdated(backfill, current)) throw new Error(OUTDATED);
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
      {dryRun && state === 'done' && applied + waiting > 0 && !isOutdated(backfill, shown) && (
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
