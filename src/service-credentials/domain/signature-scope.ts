import type { Scope } from '../../platform/auth/scopes';

/** All that a signed request may do, whatever its source (contract section 2). */
export const SIGNATURE_SCOPE: Scope = 'external-events:write';
