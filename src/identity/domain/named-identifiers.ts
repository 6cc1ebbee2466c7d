import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { isObject } from '../../platform/values/json/json-values';
import {
  IDENTIFIER_KINDS,
  normaliseIdentifier,
  type Identifier,
  type IdentifierKind,
  type IdentityRules,
} from './identifier';
import { CDP_FIELDS, kindOfType } from './identity-reference';

/** The identity of a stored event of the CDP family, as the client wrote it. */
type StoredIdentity = Readonly<Record<string, string>>;

/** Placeholders may have been added since an event was stored. */
const NO_PLACEHOLDERS: ReadonlySet<string> = new Set();

/**
 * Returns a function that finds the identifiers of one person in the identity of a stored CDP event. A phone number
 * without a country code is found by its digits, too: `DEFAULT_PHONE_REGION` may have changed since it was stored.
 */
export function identifierFinder(
  identifiers: readonly Identifier[],
  rules: IdentityRules,
): (identity: StoredIdentity) => Identifier[] {
  const valuesOf = (kind: IdentifierKind): Set<string> =>
    new Set(identifiers.filter((each) => each.kind === kind).map(({ value }) => value));
  const sought = CDP_FIELDS.map(([field, kind]) => ({ field, kind, values: valuesOf(kind) }));
  const fields = sought.filter(({ values }) => values.size > 0);
  const phones = new Map([...valuesOf('PHONE')].flatMap((value) => digitsOf(value).map((digits) => [digits, value])));
  return (identity) =>
    fields.flatMap(({ field, kind, values }) => {
      const text = identity[field];
      if (text === undefined) return [];
      const outcome = normaliseIdentifier(kind, text, '', { ...rules, placeholders: NO_PLACEHOLDERS });
      if ('identifier' in outcome && values.has(outcome.identifier.value)) return [outcome.identifier];
      const phone = kind === 'PHONE' ? phones.get(significantDigits(text)) : undefined;
      return phone === undefined ? [] : [{ kind, value: phone }];
    });
}

/**
 * The identifiers in an identity as a client wrote it, of either family, whatever is wrong with it. A value whose type is
 * missing or unknown may be of any kind.
 */
export function identifiersIn(identity: unknown, rules: IdentityRules): Identifier[] {
  if (!isObject(identity)) return [];
  const { type, value } = identity;
  const kind = typeof type === 'string' ? kindOfType(type) : undefined;
  const kinds = kind === undefined ? IDENTIFIER_KINDS : [kind];
  return [
    ...CDP_FIELDS.flatMap(([field, ofField]) => identifierOf(ofField, identity[field], rules)),
    ...kinds.flatMap((each) => identifierOf(each, value, rules)),
  ];
}

function identifierOf(kind: IdentifierKind, sent: unknown, rules: IdentityRules): Identifier[] {
  const text = typeof sent === 'number' ? `${kind === 'PHONE' ? '+' : ''}${sent}` : sent;
  if (typeof text !== 'string') return [];
  const outcome = normaliseIdentifier(kind, text, '', { ...rules, placeholders: NO_PLACEHOLDERS });
  return 'identifier' in outcome ? [outcome.identifier] : [];
}

/** The fields of the identity of a stored CDP event that are of these kinds. */
export function identityOfKinds(identity: StoredIdentity, kinds: readonly IdentifierKind[]): StoredIdentity {
  return pick(identity, (name) => isOfKinds(name, kinds));
}

/** The other fields. */
export function identityWithoutKinds(identity: StoredIdentity, kinds: readonly IdentifierKind[]): StoredIdentity {
  return pick(identity, (name) => !isOfKinds(name, kinds));
}

function isOfKinds(name: string, kinds: readonly IdentifierKind[]): boolean {
  return CDP_FIELDS.some(([field, kind]) => field === name && kinds.includes(kind));
}

function pick(identity: StoredIdentity, isPicked: (name: string) => boolean): StoredIdentity {
  return Object.fromEntries(Object.entries(identity).filter(([name]) => isPicked(name)));
}

/** With the country code and without it. */
function digitsOf(phone: string): string[] {
  const national = parsePhoneNumberFromString(phone)?.nationalNumber;
  return [phone, ...(national === undefined ? [] : [national])].map(significantDigits);
}

/** Without the zeros that some countries dial first. */
function significantDigits(text: string): string {
  return text.normalize('NFKC').replace(/\D/g, '').replace(/^0+/, '');
}
