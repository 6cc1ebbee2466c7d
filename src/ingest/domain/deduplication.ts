import { hash } from 'node:crypto';
import { nameId } from '../../platform/values/ids';
import type { EventFields } from './event';
import type { StoredResult } from './ingest-result';

/** Enough to tell a repetition from another fact under the same id; it guards against mistakes, not against attacks. */
const HASH_BASE64_CHARACTERS = 24;
/** The hash of an event whose person was erased. */
export const ERASED_HASH = '';
/** In place of the hash of an expired event that says something else than its copy. No event has it. */
export const OTHER_THAN_EXPIRED = 'other';

/**
 * The id of an event, made from what deduplicates it (contract section 3): the same (workspace, source, external id) is
 * the same UUID on every node, so that the primary key of the event log is the deduplication.
 */
export function eventIdOf(tenantId: string, source: string, externalEventId: string): string {
  return nameId([tenantId, source, externalEventId]);
}

/**
 * What an event says, in short: equal for two events that say the same, however their JSON is spaced and ordered.
 * The family, the contract's version and the time of receipt do not count: a repetition may differ in them.
 */
export function contentHashOf(event: EventFields): string {
  const identifiers = event.identifiers.map(({ kind, value }) => [kind, value]);
  const content = canonicalJson([event.eventType, event.occurredAt, identifiers, event.properties]);
  // 24 characters of base64 are 18 bytes, so that nothing of the text is padding.
  return hash('sha256', content, 'base64').slice(0, HASH_BASE64_CHARACTERS);
}

/**
 * The result of a copy of a stored event, with a warning when it says something else. `contentHash`: undefined of a malformed
 * copy. What an erased event said is unknown: every copy of it counts as the same.
 */
export function duplicateResult(eventId: string, storedHash: string, contentHash: string | undefined): StoredResult {
  const isSame = storedHash === ERASED_HASH || storedHash === contentHash;
  return { status: 'duplicate', eventId, warnings: isSame ? [] : ['payload_mismatch'], storedHash };
}

/** The same of a copy that no transaction has seen: of an event of the same batch, or one that was refused first. */
export function unseenDuplicateResult(
  eventId: string,
  storedHash: string,
  contentHash: string | undefined,
): StoredResult {
  return { ...duplicateResult(eventId, storedHash, contentHash), hasUnrecordedWarnings: true };
}

/** JSON text with the keys of every object in order. Recursion is bounded by the depth limit of properties. */
function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const element of value) text += `${text === '' ? '' : ','}${canonicalJson(element)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members).sort()) {
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(members[key])}`;
  }
  return `{${text}}`;
}
