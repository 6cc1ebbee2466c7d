import { api } from '../../api/api';
import { ApiError } from '../../api/api-error';
import type { Schema } from '../../api/api-types';

/**
 * Puts another registration in the place of one; the API has no call that changes it. The new one is sent first, so that it is
 * checked while the old one is in force. Only where both have the same issuer and audience, the old one must go before: then tokens
 * are refused for the moment between two calls.
 */
export async function replaceIssuer(id: string, body: Schema<'CreateJwtIssuerDto'>): Promise<Schema<'JwtIssuerDto'>> {
  try {
    const created = await api.post('/v1/jwt-issuers', { body });
    await deleteIfThere(id);
    return created;
  } catch (error) {
    // The service checks everything else before.
    if (!(error instanceof ApiError && error.errorCode === 'issuer_taken')) throw error;
  }
  await deleteIfThere(id);
  return api.post('/v1/jwt-issuers', { body });
}

/** After a call of before was cut off, the old one may be gone already. */
async function deleteIfThere(id: string): Promise<void> {
  try {
    await api.delete('/v1/jwt-issuers/{id}', { path: { id } });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}
