import type { Schema } from '../../api/api-types';
import { SecretDialog } from '../../design/secret-dialog';

interface WebhookSecretProps {
  readonly issued: Schema<'IssuedWebhookDto'> | undefined;
  readonly onClose: () => void;
}

/** What the receiver verifies signatures with. */
export function WebhookSecret({ issued, onClose }: WebhookSecretProps) {
  const isPublic = issued?.webhook.algorithm === 'ed25519';
  return (
    <SecretDialog
      title={isPublic ? 'The public key of the endpoint' : 'The signing secret of the endpoint'}
      isPublic={isPublic}
      what={isPublic ? 'public key' : 'secret'}
      secret={issued?.secret}
      onClose={onClose}
    >
      <p>The receiver verifies each call with it, by the Standard Webhooks specification.</p>
    </SecretDialog>
  );
}
