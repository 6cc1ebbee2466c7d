import { HIDDEN, isContactName, maskContacts, wordsOf } from './contact-data';
import { maskValue } from './mask-value';

export { maskContacts } from './contact-data';
export { maskText } from './mask-text';
export { maskIdentity, maskValue } from './mask-value';

/** In a deeper object or list a view shows nothing. Stored events are at most 8 deep, refused payloads any number. */
export const MASKED_DEPTH_MAX = 32;
const CUT = '…';

const IDENTITY_NAMES: ReadonlySet<string> = new Set(['externaluserid', 'devicekey']);
/** The only words of an identity that name a kind, not a person. */
const IDENTITY_TYPES: ReadonlySet<string> = new Set([
  ...['external', 'external_user_id', 'email', 'phone', 'device', 'device_key'],
]);

/**
 * A copy of an event's properties, or of a whole payload, as views show it (contract section 6). Masked are: values of
 * properties in `piiNames`, whole and at any depth; values whose name says email or phone; email addresses and phone
 * numbers inside any text and in names; and everything below `identity` save its kind. Objects and lists deeper than 32
 * become `…`.
 *
 * Objects of the copy have no prototype, so that a property called `__proto__` is one like any other.
 */
export function maskProperties(properties: unknown, piiNames: ReadonlySet<string>): unknown {
  return maskNode(properties, 0, { piiNames, isIdentity: false });
}

/** The identity of an event as the client wrote it, of either family, with every value masked and its kind shown. */
export function maskIdentityFields(identity: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(identity);
  return Object.fromEntries(entries.map(([name, value]) => [name, isKind(name, value) ? value : maskValue(value)]));
}

interface Surroundings {
  readonly piiNames: ReadonlySet<string>;
  /** Below `identity`, where every text is about who somebody is. */
  readonly isIdentity: boolean;
}

function maskNode(value: unknown, depth: number, around: Surroundings): unknown {
  if (typeof value === 'string') return around.isIdentity ? maskValue(value) : maskContacts(value);
  if (typeof value === 'number' && around.isIdentity) return HIDDEN;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MASKED_DEPTH_MAX) return CUT;
  if (Array.isArray(value)) return value.map((entry) => maskNode(entry, depth + 1, around));
  const copy = new UniqueKeys();
  for (const [name, member] of Object.entries(value))
    copy.add(maskContacts(name), maskMember(name, member, depth, around));
  return copy.members;
}

function maskMember(name: string, value: unknown, depth: number, around: Surroundings): unknown {
  if (value === null) return null;
  if (around.piiNames.has(name)) return maskValue(value);
  if (around.isIdentity && isKind(name, value)) return value;
  const words = wordsOf(name).join('');
  if (words === 'identity') return maskNode(value, depth + 1, { ...around, isIdentity: true });
  // That somebody has a verified address tells nobody the address.
  if (typeof value !== 'boolean' && (IDENTITY_NAMES.has(words) || isContactName(name))) return maskValue(value);
  return maskNode(value, depth + 1, around);
}

function isKind(name: string, value: unknown): boolean {
  return name === 'type' && typeof value === 'string' && IDENTITY_TYPES.has(value.toLowerCase());
}

/** An object in the making, in which two names that look the same when masked both find a place. */
class UniqueKeys {
  readonly members = Object.create(null) as Record<string, unknown>;
  private readonly taken = new Map<string, number>();

  add(name: string, value: unknown): void {
    let unique = name;
    let count = this.taken.get(name) ?? 1;
    while (unique in this.members) {
      count += 1;
      unique = `${name} (${count})`;
    }
    this.taken.set(name, count);
    this.members[unique] = value;
  }
}
