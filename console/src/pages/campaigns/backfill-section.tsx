import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useList } from '../../api/queries';
import { TextField } from '../../design/field';
import { ActionForm, FieldColumns } from '../../design/form';
import { given, numberOf } from '../../design/form-values';
import { Section } from '../../design/page';
import { ReceiptRangeFields, useReceiptRange } from '../../design/receipt-range';
import { Failed, Loading } from '../../design/state-views';
import { Button } from '../../design/button';
import { isUnfinished } from '../../design/job-card';
import { Muted } from '../../design/layout';
import { useScope } from '../../shell/session-context';
import { BackfillCard } from './backfill-card';
import type { Reaction } from './reactions-tab';

const REFRESH_MS = 1_000;
const DAY_MS = 86_400_000;

interface BackfillSectionProps {
  readonly reaction: Reaction;
}

/** Applies the reaction to events that came before it: first as a dry run, whose result is what can be applied. */
export function BackfillSection({ reaction }: BackfillSectionProps) {
  const mayWrite = useScope('reactions:write');
  const { campaignId, name } = reaction;
  const [isWatched, setWatched] = useState(false);
  const list = useList(
    '/v1/campaigns/{campaign_id}/reactions/{name}/backfills',
    { path: { campaign_id: campaignId, name } },
    { refetchInterval: isWatched ? REFRESH_MS : false },
  );
  const isRunning = list.items.some(isUnfinished);
  if (isWatched !== isRunning) setWatched(isRunning);
  return (
    <Section title="Backfill">
      <Muted>
        Applies the reaction to events received before it, each at most once ever. The dry run changes nothing, and
        shows what would change.
      </Muted>
      {mayWrite && <DryRunForm reaction={reaction} />}
      {list.isPending && <Loading />}
      {list.error !== null && <Failed error={list.error} onRetry={list.retry} />}
      {list.items.map((backfill) => (
        <BackfillCard key={backfill.jobId} backfill={backfill} reaction={reaction} />
      ))}
      {list.hasMore && (
        <div>
          <Button onClick={list.loadMore} busy={list.isLoadingMore}>
            Show more
          </Button>
        </div>
      )}
    </Section>
  );
}

function DryRunForm({ reaction: { campaignId, name, appliesFrom } }: BackfillSectionProps) {
  const client = useQueryClient();
  const range = useReceiptRange(() => new Date(new Date(appliesFrom).getTime() - DAY_MS));
  const [rate, setRate] = useState('');
  const start = async (): Promise<void> => {
    const body = given({
      ...range.times,
      dryRun: true,
      eventsPerSecondMax: numberOf(rate),
    });
    const path = { campaign_id: campaignId, name };
    await api.post('/v1/campaigns/{campaign_id}/reactions/{name}:backfill', { path, body });
    await client.invalidateQueries({ queryKey: ['/v1/campaigns/{campaign_id}/reactions/{name}/backfills'] });
  };
  return (
    <ActionForm action="Dry run" kind="normal" onSubmit={start}>
      <FieldColumns>
        <ReceiptRangeFields range={range} />
        <TextField
          label="Events in a second, at most (optional)"
          type="number"
          min={1}
          max={10000}
          value={rate}
          onChange={({ target }) => setRate(target.value)}
        />
      </FieldColumns>
    </ActionForm>
  );
}
