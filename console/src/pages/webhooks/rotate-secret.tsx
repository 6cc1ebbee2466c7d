import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { Button } from '../../design/button';
import { ConfirmDialog } from '../../design/dialog';
import { showWebhookSecret } from './webhook-secret';

export function RotateSecret({ id }: { readonly id: string }) {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button onClick={() => setAsked(true)}>Rotate secret</Button>
      <ConfirmDialog
        title="Rotate the secret?"
        open={isAsked}
        onClose={() => setAsked(false)}
        action="Rotate secret"
        onConfirm={async () => {
          showWebhookSecret(await api.post('/v1/webhooks/{id}:rotate-secret', { path: { id }, body: {} }));
          await client.invalidateQueries();
        }}
      >
        <p>For 24 hours calls are signed with both secrets, so that the receiver can change without an interruption.</p>
      </ConfirmDialog>
    </>
  );
}
