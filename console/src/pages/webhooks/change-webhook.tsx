import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useOverwriteCheck } from '../../design/overwrite';
import { WebhookForm } from './webhook-form';
import type { Webhook } from './webhook-state';

interface ChangeWebhookProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

/** The form that changes an endpoint. It begins with the endpoint as it is when the form is opened. */
export function ChangeWebhook({ webhook, onClose }: ChangeWebhookProps) {
  const client = useQueryClient();
  const [opened] = useState(webhook);
  const checkOverwrite = useOverwriteCheck(opened.id, definitionOf(opened));
  const path = { id: opened.id };
  return (
    <WebhookForm
      action="Save"
      webhook={opened}
      onCancel={onClose}
      onSubmit={async ({ url, events, description, unmask }) => {
        await checkOverwrite(opened.id, async () => definitionOf(await api.get('/v1/webhooks/{id}', { path })));
        const changes = unmask === opened.unmask ? {} : { unmask };
        await api.patch('/v1/webhooks/{id}', { path, body: { url, events, description, ...changes } });
        onClose();
        await client.invalidateQueries();
      }}
    />
  );
}

function definitionOf({
  url,
  events,
  description,
  unmask,
}: Webhook): Pick<Webhook, 'url' | 'events' | 'description' | 'unmask'> {
  return { url, events, description, unmask };
}
