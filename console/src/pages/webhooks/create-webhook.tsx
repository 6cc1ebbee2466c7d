import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../api/api';
import { Button } from '../../design/button';
import { Dialog } from '../../design/dialog';
import { given, textOf } from '../../design/form-values';
import { WebhookForm } from './webhook-form';
import { showWebhookSecret } from './webhook-secret';

export function CreateWebhook() {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Create endpoint
      </Button>
      <Dialog title="Create an endpoint" open={isOpen} onClose={close} wide>
        <WebhookForm
          action="Create endpoint"
          onCancel={close}
          onSubmit={async ({ description, ...fields }) => {
            const body = given({ ...fields, description: textOf(description) });
            const issued = await api.post('/v1/webhooks', { body });
            showWebhookSecret(issued, () => navigate(`/webhooks/${issued.webhook.id}`));
            close();
            await client.invalidateQueries({ queryKey: ['/v1/webhooks'] });
          }}
        />
      </Dialog>
    </>
  );
}
