import type { Fault } from '../../platform/errors/fault';
import { enumFault, requiredFault } from '../../platform/errors/fault-words';
import { isAbsent } from '../../platform/values/json/json-values';
import { normaliseIdentifier, type Identifier, type IdentifierKind, type IdentityRules } from './identifier';

/** The identity of an external event, with a valid shape; null means absent. */
export interface IdentityReference {
  readonly type?: string | null;
  readonly value?: string | null;
}

/** The identity of a CDP event, with a valid shape; null means absent. */
export interface CdpIdentity {
  readonly externalUserId?: string | null;
  readonly email?: string | null;
  readonly phone?: string | null;
  readonly deviceKey?: string | null;
}

/** `identifiers`: at least one, strongest first, one of each kind at most. `faults`: all of them. */
export type ParsedIdentity = { readonly identifiers: readonly Identifier[] } | { readonly faults: readonly Fault[] };

/** The values of `identity.type`, in lower case; clients may send any case (contract section 3). */
const KINDS_BY_TYPE: ReadonlyMap<string, IdentifierKind> = new Map([
  ['external', 'EXTERNAL'],
  ['external_user_id', 'EXTERNAL'],
  ['email', 'EMAIL'],
  ['phone', 'PHONE'],
  ['device', 'DEVICE'],
  ['device_key', 'DEVICE'],
]);

/** The kind of each field, in order of strength. */
const KIND_OF_CDP_FIELD: Readonly<Record<keyof CdpIdentity, IdentifierKind>> = {
  externalUserId: 'EXTERNAL',
  email: 'EMAIL',
  phone: 'PHONE',
  deviceKey: 'DEVICE',
};
/** The fields of the identity of a CDP event with their kinds, the strongest first. */
export const CDP_FIELDS = Object.entries(KIND_OF_CDP_FIELD) as [keyof CdpIdentity, IdentifierKind][];

/** The kind that a value of `identity.type` names; undefined if it names none. */
export function kindOfType(type: string): IdentifierKind | undefined {
  // Lower case, because upper-casing would turn a dotless i into the I of EMAIL.
  return KINDS_BY_TYPE.get(type.toLowerCase());
}

/**
 * Parses the identity of an external event (contract section 3). `parent` is its path in the body, '' for the body
 * itself. Faults: `required` or `enum` at `identity.type`; `required` or any of `normaliseIdentifier` at
 * `identity.value`.
 */
export function parseIdentityReference(
  reference: IdentityReference,
  rules: IdentityRules,
  parent = 'identity',
): ParsedIdentity {
  const { type, value } = reference;
  const valuePath = pathBelow(parent, 'value');
  const faults: Fault[] = [];
  const kind = isAbsent(type) ? undefined : kindOfType(type);
  if (isAbsent(type)) faults.push(requiredFault(pathBelow(parent, 'type')));
  else if (kind === undefined) faults.push(enumFault(pathBelow(parent, 'type'), [...KINDS_BY_TYPE.keys()]));

  if (isAbsent(value)) return { faults: [...faults, requiredFault(valuePath)] };
  // Without a kind, check as EXTERNAL: its rules hold for every kind.
  const outcome = normaliseIdentifier(kind ?? 'EXTERNAL', value, valuePath, rules);
  if ('fault' in outcome) return { faults: [...faults, outcome.fault] };
  return faults.length > 0 ? { faults } : { identifiers: [outcome.identifier] };
}

/**
 * Parses the identity of a CDP event. Faults: `identity_required` at `identity` without any identifier, or any of
 * `normaliseIdentifier` at each field that is present (`identity.email`, …).
 */
export function parseCdpIdentity(identity: CdpIdentity, rules: IdentityRules): ParsedIdentity {
  const identifiers: Identifier[] = [];
  const faults: Fault[] = [];
  for (const [field, kind] of CDP_FIELDS) {
    const raw = identity[field];
    if (isAbsent(raw)) continue;
    const outcome = normaliseIdentifier(kind, raw, `identity.${field}`, rules);
    if ('fault' in outcome) faults.push(outcome.fault);
    else identifiers.push(outcome.identifier);
  }
  if (faults.length > 0) return { faults };
  return identifiers.length > 0 ? { identifiers } : { faults: [identityRequiredFault()] };
}

function identityRequiredFault(): Fault {
  const fields = CDP_FIELDS.map(([field]) => `identity.${field}`).join(', ');
  return {
    path: 'identity',
    code: 'identity_required',
    message: `identity has no identifier; send at least one of ${fields}.`,
  };
}

/** Faster than `fieldPath`, which every event would call: these names need no escaping. */
function pathBelow(parent: string, field: 'type' | 'value'): string {
  return parent === '' ? field : `${parent}.${field}`;
}
