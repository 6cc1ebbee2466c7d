import { refuseSource } from '../../ingest/domain/ingest-result';
import type { EventFamily } from '../../ingest/domain/submission';
import { scopeMissing } from '../../platform/errors/challenges';
import type { Principal } from '../../platform/auth/principal';
import { grants, type Scope } from '../../platform/auth/scopes';
import { DomainError } from '../../platform/errors/domain-error';
import type { ReviewStatus, StoredEntry } from '../../review/domain/review-entry';

type Caller = Pick<Principal, 'scopes' | 'sources'>;
type Replayed = Pick<StoredEntry, 'family' | 'source' | 'status'>;

/** A corrected payload is a new event, so that it needs the write scope of its family besides `review:write`. */
const WRITE_SCOPES: Readonly<Record<EventFamily, Scope>> = {
  external: 'external-events:write',
  cdp: 'cdp-events:write',
};

const CLOSED: Readonly<Record<Exclude<ReviewStatus, 'open'>, string>> = {
  replayed: 'The entry was replayed already and its event is stored; there is nothing left to do.',
  superseded: 'The entry is superseded: its event was accepted or processed later; there is nothing left to do.',
  dismissed:
    'The entry is dismissed, and only open entries can be replayed; send the event to its ingest route instead.',
};

/**
 * Throws `insufficient_scope` or `source_not_allowed` unless the caller may replay this entry (contract section 7), and
 * `entry_not_open` if the entry is closed. A credential with `sources` may replay entries of these sources only, and an
 * entry without a source only with a payload that names one of them.
 */
export function assertMayReplay(caller: Caller, entry: Replayed, corrected: object | undefined): void {
  const scope = WRITE_SCOPES[entry.family as EventFamily];
  if (corrected !== undefined && !grants(caller.scopes, scope)) throw scopeMissing(scope);
  const sources = [entry.source, sourceOf(corrected)].filter((source) => source !== undefined && source !== null);
  const refusal = (sources.length > 0 ? sources : [''])
    .map((source) => refuseSource(source, caller.sources))
    .find(Boolean);
  if (refusal !== undefined) throw new DomainError(refusal.code, refusal.message, { details: refusal.details });
  if (entry.status !== 'open') throw new DomainError('entry_not_open', CLOSED[entry.status]);
}

function sourceOf(corrected: object | undefined): unknown {
  return corrected === undefined ? undefined : (corrected as Readonly<Record<string, unknown>>)['source'];
}
