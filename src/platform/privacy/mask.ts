import { LRUCache } from 'lru-cache';
import { runAtOnce, type Steps } from '../values/time-slice';
import { contactSteps, haveContactWord, HIDDEN, maskContacts, wordsOf } from './contact-data';
import { maskValue } from './mask-text';

/** In a deeper object or list a view shows nothing. Stored events are at most 8 deep, refused payloads any number. */
export const MASKED_DEPTH_MAX = 32;
const CUT = '…';
/** Members or entries after which the work can be interrupted; short ones cost a microsecond or so each. */
const MEMBERS_PER_STEP = 64;
/** A text of more characters is masked in steps. */
const STEP_CHARACTERS = 4 * 1024;

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
  return runAtOnce(propertySteps(properties, piiNames));
}

/** The same in steps of bounded work: properties may have 64 KiB and more, payloads of the review area a megabyte. */
export function propertySteps(properties: unknown, piiNames: ReadonlySet<string>): Steps<unknown> {
  return maskNode(properties, 0, { piiNames, isIdentity: false });
}

/** Whether views hide the value of a property for its name, or hide a part of the name itself. */
export function hasPersonalName(name: string, piiNames: ReadonlySet<string>): boolean {
  return piiNames.has(name) || tellsPersonal(memberNameOf(name));
}

function tellsPersonal({ name, isIdentity, isPersonal, shown }: MemberName): boolean {
  return isIdentity || isPersonal || shown !== name;
}

/**
 * An event's properties without what `maskProperties` hides, at any depth: neither its values nor their names. An object or list
 * that is deeper than a view shows is empty. Most events have nothing of the kind, and are not copied. In steps of bounded work.
 */
export function* withoutPersonalSteps(properties: unknown, piiNames: ReadonlySet<string>, depth = 0): Steps<unknown> {
  if (typeof properties !== 'object' || properties === null) return properties;
  const isList = Array.isArray(properties);
  if (depth >= MASKED_DEPTH_MAX) return isList ? [] : {};
  yield undefined;
  const shown: [string, unknown][] = [];
  let isWhole = true;
  let count = 0;
  for (const [name, member] of Object.entries(properties) as [string, unknown][]) {
    count += 1;
    if (count % MEMBERS_PER_STEP === 0) yield undefined;
    const named = isList ? undefined : name.length > STEP_CHARACTERS ? yield* longNameSteps(name) : memberNameOf(name);
    const isHidden = typeof member === 'string' && (yield* contactsMasked(member)) !== member;
    if (isHidden || (named !== undefined && (piiNames.has(name) || tellsPersonal(named)))) {
      isWhole = false;
      continue;
    }
    const inner = isScalar(member) ? member : yield* withoutPersonalSteps(member, piiNames, depth + 1);
    isWhole &&= inner === member;
    shown.push([name, inner]);
  }
  if (isWhole) return properties;
  return isList ? shown.map(([, member]) => member) : Object.fromEntries(shown);
}

function* contactsMasked(text: string): Steps<string> {
  return text.length > STEP_CHARACTERS ? yield* contactSteps(text) : maskContacts(text);
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
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

function* maskNode(value: unknown, depth: number, around: Surroundings): Steps<unknown> {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' && isLong(value, around) ? yield* contactSteps(value) : maskScalar(value, around);
  }
  if (depth >= MASKED_DEPTH_MAX) return CUT;
  yield undefined;
  return Array.isArray(value) ? yield* maskEntries(value, depth, around) : yield* maskMembers(value, depth, around);
}

function* maskEntries(entries: readonly unknown[], depth: number, around: Surroundings): Steps<unknown[]> {
  const copy: unknown[] = [];
  for (const entry of entries) {
    copy.push(isShort(entry, around) ? maskScalar(entry, around) : yield* maskNode(entry, depth + 1, around));
    if (copy.length % MEMBERS_PER_STEP === 0) yield undefined;
  }
  return copy;
}

function* maskMembers(members: object, depth: number, around: Surroundings): Steps<Record<string, unknown>> {
  const copy = new UniqueKeys();
  let count = 0;
  for (const [name, member] of Object.entries(members) as [string, unknown][]) {
    const named = name.length > STEP_CHARACTERS ? yield* longNameSteps(name) : memberNameOf(name);
    const inside = surroundingsOf(named, member, around);
    if (inside === SHOWN) copy.add(named.shown, member);
    else if (inside === HIDE) copy.add(named.shown, maskValue(member));
    else if (isShort(member, inside)) copy.add(named.shown, maskScalar(member, inside));
    else copy.add(named.shown, yield* maskNode(member, depth + 1, inside));
    count += 1;
    if (count % MEMBERS_PER_STEP === 0) yield undefined;
  }
  return copy.members;
}

const SHOWN = 'shown';
const HIDE = 'hide';

/** What the name of a member says of its value. */
interface MemberName {
  readonly name: string;
  /** The name as views show it. */
  readonly shown: string;
  readonly isIdentity: boolean;
  readonly isPersonal: boolean;
}

/** Events repeat a few names, and taking one apart costs as much as masking its value. Some 100 KiB. */
const memberNames = new LRUCache<string, MemberName>({ max: 500 });
const REMEMBERED_NAME_LENGTH_MAX = 64;

function memberNameOf(name: string): MemberName {
  const known = memberNames.get(name);
  if (known !== undefined) return known;
  const found = memberNameFrom(name, maskContacts(name));
  if (name.length <= REMEMBERED_NAME_LENGTH_MAX) memberNames.set(name, found);
  return found;
}

/** The same of a name that may have hundreds of kilobytes. */
function* longNameSteps(name: string): Steps<MemberName> {
  const shown = yield* contactSteps(name);
  yield undefined;
  return memberNameFrom(name, shown);
}

function memberNameFrom(name: string, shown: string): MemberName {
  const words = wordsOf(name);
  const joined = words.join('');
  const isPersonal = IDENTITY_NAMES.has(joined) || haveContactWord(words);
  return { name, shown, isIdentity: joined === 'identity', isPersonal };
}

/** What becomes of a member: it is shown as it is, hidden whole, or looked into. */
function surroundingsOf(
  { name, isIdentity, isPersonal }: MemberName,
  value: unknown,
  around: Surroundings,
): Surroundings | typeof SHOWN | typeof HIDE {
  if (value === null) return SHOWN;
  if (around.piiNames.has(name)) return HIDE;
  if (around.isIdentity && isKind(name, value)) return SHOWN;
  if (isIdentity) return { ...around, isIdentity: true };
  // That somebody has a verified address tells nobody the address.
  return isPersonal && typeof value !== 'boolean' ? HIDE : around;
}

function maskScalar(value: unknown, { isIdentity }: Surroundings): unknown {
  if (typeof value === 'string') return isIdentity ? maskValue(value) : maskContacts(value);
  return typeof value === 'number' && isIdentity ? HIDDEN : value;
}

/** What is masked at once, without steps of its own. */
function isShort(value: unknown, around: Surroundings): boolean {
  return typeof value === 'string' ? !isLong(value, around) : typeof value !== 'object' || value === null;
}

/** Of an identity only the first characters are looked at. */
function isLong(text: string, { isIdentity }: Surroundings): boolean {
  return text.length > STEP_CHARACTERS && !isIdentity;
}

function isKind(name: string, value: unknown): boolean {
  return name === 'type' && typeof value === 'string' && IDENTITY_TYPES.has(value.toLowerCase());
}

/** An object in the making, in which two names that look the same when masked both find a place. */
class UniqueKeys {
  readonly members = Object.create(null) as Record<string, unknown>;
  private readonly taken = new Map<string, number>();

  add(name: string, value: unknown): void {
    if (!(name in this.members)) {
      this.members[name] = value;
      return;
    }
    let count = this.taken.get(name) ?? 1;
    let unique: string;
    do {
      count += 1;
      unique = `${name} (${count})`;
    } while (unique in this.members);
    this.taken.set(name, count);
    this.members[unique] = value;
  }
}
