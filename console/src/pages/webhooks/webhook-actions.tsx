import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useLateNavigation } from '../../design/action';
import { Button } from '../../design/button';
import { ConfirmDialog, Dialog } from '../../design/dialog';
import { Inline, Stack } from '../../design/layout';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { ChangeWebhook } from './change-webhook';
import { RotateSecret } from './rotate-secret';
import { TestDelivery } from './test-delivery';
import type { Webhook } from './webhook-state';

interface WebhookActionsProps {
  readonly webhook: Webhook;
}

export function WebhookActions({ webhook }: WebhookActionsProps) {
  const client = useQueryClient();
  const navigate = useLateNavigation();
  const [open, setOpen] = useState<'change' | 'switch' | 'delete'>();
  const close = (): void => setOpen(undefined);
  const { id, enabled } = webhook;
  const path = { id };
  const readAgain = () => client.invalidateQueries();
  if (!useScope('webhooks:write')) return null;
  const switchState = async (): Promise<void> => {
    if (enabled) await api.post('/v1/webhooks/{id}:disable', { path, body: {} });
    else await api.post('/v1/webhooks/{id}:enable', { path, body: {} });
    showToast({ title: enabled ? 'The endpoint is disabled.' : 'The endpoint is enabled.' });
    await readAgain();
  };
  const remove = async (): Promise<void> => {
    await api.delete('/v1/webhooks/{id}', { path });
    showToast({ title: 'The endpoint is deleted.' });
    navigate('/webhooks');
    await readAgain();
  };
  return (
    <Stack>
      <Inline>
        <TestDelivery id={id} />
        <Button onClick={() => setOpen('change')}>Change</Button>
        <Button onClick={() => setOpen('switch')}>{enabled ? 'Disable' : 'Enable'}</Button>
        <RotateSecret id={id} />
        <Button kind="danger" onClick={() => setOpen('delete')}>
          Delete
        </Button>
      </Inline>
      <Dialog title="Change the endpoint" open={open === 'change'} onClose={close} wide>
        <ChangeWebhook webhook={webhook} onClose={close} />
      </Dialog>
      <ConfirmDialog
        title={enabled ? 'Disable this endpoint?' : 'Enable this endpoint?'}
        open={open === 'switch'}
        onClose={close}
        action={enabled ? 'Disable endpoint' : 'Enable endpoint'}
        onConfirm={switchState}
      >
        {enabled ? (
          <p>Nothing is sent until it is enabled again. What fits its rules is kept for it meanwhile.</p>
        ) : (
          <p>What was kept for it is sent now, in the order of each customer.</p>
        )}
      </ConfirmDialog>
      <ConfirmDialog
        title="Delete this endpoint?"
        open={open === 'delete'}
        onClose={close}
        action="Delete endpoint"
        typed={id.slice(-4)}
        onConfirm={remove}
      >
        <p>
          {visibleText(webhook.url)} hears of nothing any more. Its deliveries are deleted, also those that were not
          sent yet. Type the last four characters of its id, <code>{id}</code>.
        </p>
      </ConfirmDialog>
    </Stack>
  );
}
