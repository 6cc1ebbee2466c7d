import type { KeyedRecords } from '../platform/secrets/keyed-records';

/** Secrets that issuers share with the service. */
export const SEALED_ISSUERS: KeyedRecords = {
  loss: 'shared secrets of issuers: their tokens are answered 503 until the issuer is deleted and created again',
  count: {
    name: 'sealed_issuers_count',
    text: 'SELECT count(*)::int AS count FROM jwt_issuers WHERE secret IS NOT NULL',
  },
  sample: {
    name: 'sealed_issuers_sample',
    text: `SELECT tenant_id, id, secret AS sealed FROM jwt_issuers WHERE secret IS NOT NULL ORDER BY created_at DESC LIMIT 20`,
  },
};
