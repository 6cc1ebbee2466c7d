import { api } from '../../api/api';
import { ApiError, type ErrorDetail } from '../../api/api-error';
import type { Schema } from '../../api/api-types';

/** What a check or a replay says of a payload. */
export type Verdict =
  | { readonly kind: 'accepted' | 'duplicate' }
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly faults: readonly ErrorDetail[];
      readonly requestId?: string | undefined;
    };

/** What the ingest route of the family would answer. Writes nothing. Rejects when the service cannot say it. */
export async function dryRun(family: string, payload: object): Promise<Verdict> {
  const query = { dry_run: 'true' } as const;
  try {
    const { status } =
      family === 'cdp'
        ? await api.post('/v1/cdp/events', { query, body: payload as Schema<'CdpEventDto'> })
        : await api.post('/v1/external-events', { query, body: payload as Schema<'ExternalEventDto'> });
    return { kind: status };
  } catch (error) {
    return refusalOf(error);
  }
}

/** Refusals of the event, as opposed to those of the caller. */
const OF_THE_EVENT: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/** The verdict in an error; throws an error that has none. */
export function refusalOf(error: unknown): Verdict {
  if (!(error instanceof ApiError) || !OF_THE_EVENT.has(error.status)) throw error;
  const { message, details, requestId } = error;
  return { kind: 'refused', message, requestId, faults: details };
}

/** Views write these in the place of what they hide. */
const MASKED = /\*{3}/;

/** Fields whose masked value is left as it is; a replay puts the stored values there. */
export function maskedFields(masked: unknown, corrected: unknown, path = ''): readonly string[] {
  if (typeof corrected === 'string') return corrected === masked && MASKED.test(corrected) ? [path] : [];
  if (typeof corrected !== 'object' || corrected === null) return [];
  const before = (typeof masked === 'object' && masked !== null ? masked : {}) as Readonly<Record<string, unknown>>;
  return Object.entries(corrected).flatMap(([name, value]: [string, unknown]) => [
    ...(MASKED.test(name) && name in before ? [path === '' ? name : `${path}.${name}`] : []),
    ...maskedFields(before[name], value, path === '' ? name : `${path}.${name}`),
  ]);
}
