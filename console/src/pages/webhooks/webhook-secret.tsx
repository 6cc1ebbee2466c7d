import type { Schema } from '../../api/api-types';
import { showSecret } from '../../design/secret-dialog';

/** Shows what the receiver verifies signatures with. */
export function showWebhookSecret({ secret, webhook }: Schema<'IssuedWebhookDto'>, onStored?: () => void): void {
  const isPublic = webhook.algorithm === 'ed25519';
  showSecret({
    title: isPublic ? 'The public key of the endpoint' : 'The signing secret of the endpoint',
    what: isPublic ? 'public key' : 'secret',
    secret,
    isPublic,
    note: <p>The receiver verifies each call with it, by the Standard Webhooks specification.</p>,
    ...(onStored === undefined ? {} : { onStored }),
  });
}
