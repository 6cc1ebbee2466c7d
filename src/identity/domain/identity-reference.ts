import type { Fault } from '../../platform/errors/fault';
import { enumFault, requiredFault } from '../../platform/errors/fault-words';
import { isAbsent } from '../../platform/values/json/is-absent';
import { normaliseIdentifier, type Identifier, type IdentifierKind, type IdentityRules } from './identifier';

/** The identity of an external event, its shape already checked; null means absent. */
export interface IdentityReference {
  readonly type?: string | null;
  readonly value?: string | null;
}

/** The identity of a CDP event, its shape already checked; null means absent. */
export interface CdpIdentity {
  readonly externalUserId?: string | null;
  readonly email?: string | null;
  readonly phone?: string | null;
  readonly deviceKey?: string | null;
}

/** `identifiers`: at least one, the strongest first, no two of one kind. `faults`: every one found. */
export type ParsedIdentity = { readonly identifiers: readonly Identifier[] } | { readonly faults: readonly Fault[] };

/** What `identity.type` takes, in any case (contract section 3). */
const KINDS_BY_TYPE: ReadonlyMap<string, IdentifierKind> = new Map([
  ['external', 'EXTERNAL'],
  ['external_user_id', 'EXTERNAL'],
  ['email', 'EMAIL'],
  ['phone', 'PHONE'],
  ['device', 'DEVICE'],
  ['device_key', 'DEVICE'],
]);

/** In order of strength. */
const CDP_FIELDS = [
  ['externalUserId', 'EXTERNAL'],
  ['email', 'EMAIL'],
  ['phone', 'PHONE'],
  ['deviceKey', 'DEVICE'],
] as const satisfies readonly (readonly [keyof CdpIdentity, IdentifierKind])[];

/**
 * Whom an external event is about (contract section 3). Faults: `required` or `enum` at `identity.type`, `required` or
 * any of `normaliseIdentifier` at `identity.value`; `parent` is where the client wrote the reference, '' for the body itself.
 */
export function parseIdentityReference(
  reference: IdentityReference,
  rules: IdentityRules,
  parent = 'identity',
): ParsedIdentity {
  const { type, value } = reference;
  const valuePath = pathBelow(parent, 'value');
  const faults: Fault[] = [];
  // Lower case: upper-casing would also turn a dotless i into the I of EMAIL.
  const kind = isAbsent(type) ? undefined : KINDS_BY_TYPE.get(type.toLowerCase());
  if (isAbsent(type)) faults.push(requiredFault(pathBelow(parent, 'type')));
  else if (kind === undefined) faults.push(enumFault(pathBelow(parent, 'type'), [...KINDS_BY_TYPE.keys()]));

  if (isAbsent(value)) return { faults: [...faults, requiredFault(valuePath)] };
  // Without a kind, EXTERNAL stands in: it asks nothing of a value but what every kind asks.
  const outcome = normaliseIdentifier(kind ?? 'EXTERNAL', value, valuePath, rules);
  if ('fault' in outcome) return { faults: [...faults, outcome.fault] };
  return faults.length > 0 ? { faults } : { identifiers: [outcome.identifier] };
}

/**
 * Whom a CDP event is about. Faults: `identity_required` at `identity` if it names nobody, or any of
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
    message: `identity names nobody: send at least one of ${fields}.`,
  };
}

/** Every event comes by here, and these names need no looking at. */
function pathBelow(parent: string, field: 'type' | 'value'): string {
  return parent === '' ? field : `${parent}.${field}`;
}
