import type { KeyedRecords } from '../platform/secrets/secrets-key-check';

/** Hashes that erased persons are recognised by. */
export const ERASED_HASHES: KeyedRecords = {
  loss: 'identifiers of erased persons: they are not recognised any more, and events for them are accepted again',
  count: { name: 'erased_hashes_count', text: 'SELECT count(*)::int AS count FROM erased_identifiers' },
};
