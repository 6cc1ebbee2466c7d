import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useLateNavigation } from '../../design/action';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { Inline } from '../../design/layout';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { definitionOf } from './reaction-definition';
import type { DefinedReaction } from './reaction-form';
import type { Reaction } from './reactions-tab';

interface ReactionActionsProps {
  readonly reaction: Reaction;
  readonly onEdit: () => void;
  readonly onDefined: (warnings: DefinedReaction['warnings']) => void;
}

export function ReactionActions({ reaction, onEdit, onDefined }: ReactionActionsProps) {
  const client = useQueryClient();
  const navigate = useLateNavigation();
  const [asked, setAsked] = useState<'switch' | 'delete'>();
  const close = (): void => setAsked(undefined);
  const { campaignId, name, enabled } = reaction;
  if (!useScope('reactions:write')) return null;
  const define = async (isEnabled: boolean): Promise<void> => {
    // The page may be older than the last change of the definition, which must stay.
    const path = { campaign_id: campaignId, name };
    const current = await api.get('/v1/campaigns/{campaign_id}/reactions/{name}', { path });
    const body = { ...definitionOf(current), enabled: isEnabled };
    const options = { path: { campaign_id: campaignId }, body };
    const defined = await api.post('/v1/campaigns/{campaign_id}/reactions:define', options);
    onDefined(defined.warnings);
    showToast({ title: isEnabled ? 'The reaction is on.' : 'The reaction is off.' });
    await client.invalidateQueries();
  };
  const remove = async (): Promise<void> => {
    await api.delete('/v1/campaigns/{campaign_id}/reactions/{name}', { path: { campaign_id: campaignId, name } });
    showToast({ title: 'The reaction is deleted.' });
    navigate(`/campaigns/${encodeURIComponent(campaignId)}?tab=reactions`);
    await client.invalidateQueries();
  };
  return (
    <Inline>
      <Button onClick={onEdit}>Edit</Button>
      <Button onClick={() => setAsked('switch')}>{enabled ? 'Disable' : 'Enable'}</Button>
      <Button kind="danger" onClick={() => setAsked('delete')}>
        Delete
      </Button>
      <ConfirmDialog
        title={enabled ? 'Disable this reaction?' : 'Enable this reaction?'}
        open={asked === 'switch'}
        onClose={close}
        action={enabled ? 'Disable reaction' : 'Enable reaction'}
        onConfirm={() => define(!enabled)}
      >
        {enabled ? (
          <p>Events that arrive while it is off do not meet it. A backfill can apply it to them later.</p>
        ) : (
          <p>It applies to events received from now on, not to those that came while it was off.</p>
        )}
      </ConfirmDialog>
      <ConfirmDialog
        title="Delete this reaction?"
        open={asked === 'delete'}
        onClose={close}
        action="Delete reaction"
        typed={name}
        onConfirm={remove}
      >
        <p>{visibleText(name)} ends. The values that it has changed stay as they are.</p>
      </ConfirmDialog>
    </Inline>
  );
}
