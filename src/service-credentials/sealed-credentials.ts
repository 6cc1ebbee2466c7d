import type { KeyedRecords } from '../platform/secrets/keyed-records';

/** Secrets that requests are signed with. */
export const SEALED_CREDENTIALS: KeyedRecords = {
  loss: 'secrets of service credentials (hmac-sha256): requests signed with them are answered 503; make new ones and revoke these',
  count: {
    name: 'sealed_credentials_count',
    text: 'SELECT count(*)::int AS count FROM service_credentials WHERE secret IS NOT NULL AND revoked_at IS NULL',
  },
  sample: {
    name: 'sealed_credentials_sample',
    text: `SELECT tenant_id, id, secret AS sealed FROM service_credentials WHERE secret IS NOT NULL
      ORDER BY created_at DESC LIMIT 20`,
  },
};
