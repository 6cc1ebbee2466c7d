import type { Fault } from '../../platform/errors/fault';
import type { ReviewStage } from '../../review/domain/review-entry';
import type { Refusal, RefusedResult } from './ingest-result';

/** The refusal of an event of a source that the credential may not send; undefined when it may. `allowed`: null is all. */
export function refuseSource(source: unknown, allowed: ReadonlySet<string> | null): Refusal | undefined {
  if (allowed === null || typeof source !== 'string' || allowed.has(source)) return undefined;
  const message = 'The credential may not send events of this source; use one whose sources name it.';
  return { code: 'source_not_allowed', message, details: [{ path: 'source', code: 'source_not_allowed', message }] };
}

/** The step that stopped an event with this refusal. */
export function stageOf({ code, details }: Refusal): ReviewStage {
  if (code === 'source_not_allowed') return 'authorization';
  if (code === 'identity_conflict' || code === 'profile_erased') return 'identity';
  const contract = details[0]?.code === 'unregistered_event_type' || details[0]?.path.startsWith('properties') === true;
  return contract ? 'contract' : 'validation';
}

const MESSAGES: Readonly<Record<Refusal['code'], string>> = {
  identity_conflict:
    'The identifiers belong to two different customers; correct them, or name the EXTERNAL identifier of one.',
  profile_erased:
    'The identifiers belong to a person who was erased; events of them are not taken until the erasure is lifted.',
  validation_failed: 'The event holds a value that cannot be stored.',
  source_not_allowed: 'The credential may not send events of this source.',
  unavailable: 'The event could not be stored now; send it again with the same id, it takes effect once.',
};

/** The result of an event that storing refused. */
export function refusedByStore(code: Refusal['code']): RefusedResult {
  const message = MESSAGES[code];
  const details: Fault[] =
    code === 'identity_conflict' || code === 'profile_erased' ? [{ path: 'identity', code, message }] : [];
  return { status: 'error', refusal: { code, message, details } };
}
