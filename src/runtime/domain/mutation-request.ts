import { parseItem } from 'structured-headers';
import type { Fault } from '../../platform/errors/fault';
import { FaultList } from '../../platform/errors/fault-list';
import {
  emptyFault,
  formatFault,
  invalidCharactersFault,
  tooLongFault,
  typeFault,
} from '../../platform/errors/fault-words';
import { addUnknownFields } from '../../platform/errors/unknown-fields';
import { isAbsent } from '../../platform/values/json/is-absent';
import { isObject } from '../../platform/values/json/is-object';
import { hasMoreCharacters } from '../../platform/values/text/character-count';
import { PATH_NAME, PATH_NAME_FORM } from '../../platform/values/text/path-name';
import { isStorable } from '../../platform/values/text/storable-text';
import { parseOperations, type Operation } from './operation';
import { SUBJECT_CHARACTERS_MAX, type NamedField, type NamedOwner } from './state-owner';

/** Contract section 8. */
const MUTATION_ID_CHARACTERS_MAX = 255;
export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const QUOTED_FORM = 'is not a string of RFC 9651: write "abc", with \\" and \\\\ in it, or leave the quotes out';

/** Fields that have two spellings (contract section 1); naming both with different values is a fault. */
const SPELLINGS = {
  campaign: ['campaign_id', 'campaignId'],
  app: ['app_id', 'appId'],
  user: ['user_id', 'userId'],
  mutation: ['mutation_id', 'mutationId'],
} as const;
const KNOWN_FIELDS: ReadonlySet<string> = new Set(['ops', ...Object.values(SPELLINGS).flat()]);

export interface MutationRequest {
  readonly operations: readonly Operation[];
  readonly mutationId: string | undefined;
  /** What the body names; the campaign of the address comes on top. */
  readonly named: NamedOwner;
}

/** Reads the body of a mutation, any JSON value, with the header that is an alias of `mutation_id`; names every fault. */
export function parseMutationRequest(
  body: unknown,
  idempotencyKey: string | undefined,
): { readonly request: MutationRequest } | { readonly faults: readonly Fault[] } {
  if (!isObject(body)) return { faults: [typeFault('', 'an object')] };
  const faults = new FaultList();
  const operations = parseOperations(body['ops']);
  if ('faults' in operations) faults.push(...operations.faults);
  const read = (field: keyof typeof SPELLINGS, check: CheckText): NamedField[] =>
    textsOf(body, SPELLINGS[field], check, faults);
  const mutationIds = read('mutation', upTo(MUTATION_ID_CHARACTERS_MAX));
  if (idempotencyKey !== undefined) {
    const key = textOfHeader(idempotencyKey);
    if (key === undefined) faults.push(formatFault(IDEMPOTENCY_KEY, QUOTED_FORM));
    mutationIds.push(
      ...textsOf({ [IDEMPOTENCY_KEY]: key }, [IDEMPOTENCY_KEY], upTo(MUTATION_ID_CHARACTERS_MAX), faults),
    );
    faults.push(...conflictsIn(mutationIds));
  }
  const named = {
    campaigns: read('campaign', isName),
    apps: read('app', isName),
    users: read('user', upTo(SUBJECT_CHARACTERS_MAX)),
  };
  addUnknownFields(body, KNOWN_FIELDS, { path: '', whole: 'a mutation' }, faults);
  if (!faults.isEmpty || 'faults' in operations) return { faults: faults.all() };
  return { request: { operations: operations.operations, mutationId: mutationIds[0]?.value, named } };
}

/** What a header says in either spelling, `"abc"` (a string of RFC 9651) or `abc`; undefined for quotes that make no string. */
function textOfHeader(header: string): string | undefined {
  if (!header.startsWith('"')) return header;
  try {
    const [text] = parseItem(header) as readonly unknown[];
    return typeof text === 'string' ? text : undefined;
  } catch {
    // The library throws errors of several kinds for text that is none.
    return undefined;
  }
}

/** A text field by whichever of its spellings are there; absent and null are the same. */
function textsOf(
  body: Readonly<Record<string, unknown>>,
  spellings: readonly string[],
  check: CheckText,
  faults: FaultList,
): NamedField[] {
  const found: NamedField[] = [];
  for (const field of spellings) {
    const value = body[field];
    if (isAbsent(value)) continue;
    const fault = typeof value === 'string' ? check(field, value) : typeFault(field, 'a string');
    if (fault !== undefined) faults.push(fault);
    if (typeof value === 'string') found.push({ field, value });
  }
  if (found.length < 2) return found;
  faults.push(...conflictsIn(found));
  return found.slice(0, 1);
}

type CheckText = (field: string, value: string) => Fault | undefined;

function upTo(charactersMax: number): CheckText {
  return (field, value) => {
    if (value === '') return emptyFault(field);
    if (hasMoreCharacters(value, charactersMax)) return tooLongFault(field, charactersMax);
    return isStorable(value) ? undefined : invalidCharactersFault(field);
  };
}

function isName(field: string, value: string): Fault | undefined {
  return PATH_NAME.test(value) ? undefined : formatFault(field, PATH_NAME_FORM);
}

/** Spellings of one field that do not agree with the first. */
export function conflictsIn([first, ...others]: readonly NamedField[]): Fault[] {
  return others.flatMap(({ field, value }) => {
    if (first === undefined || value === first.value) return [];
    const message = `${field} and ${first.field} are the same field with different values; send one of them.`;
    return [{ path: field, code: 'conflicting_fields', message }];
  });
}
