import { isUtf8 } from 'node:buffer';
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
import { isAbsent, isObject } from '../../platform/values/json/json-values';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import { PATH_NAME, PATH_NAME_FORM } from '../../platform/values/text/path-name';
import { parseOperations, type Operation } from './operation';
import { SUBJECT_CHARACTERS_MAX, type NamedField, type NamedOwner } from './state-owner';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const QUOTED_FORM = 'is not a string of RFC 9651: write "abc", with \\" and \\\\ in it, or leave the quotes out';

/** What a text field may hold; the parser and the OpenAPI document both use it. Lengths are in characters. */
export type TextSchema =
  | { readonly type: 'string'; readonly minLength: 1; readonly maxLength: number }
  | { readonly type: 'string'; readonly pattern: string };

const NAME_SCHEMA = { type: 'string', pattern: PATH_NAME.source } as const satisfies TextSchema;

/** The text fields of a mutation (contract section 8). All are optional. */
export const MUTATION_SCHEMA = {
  mutation_id: { type: 'string', minLength: 1, maxLength: 255 },
  campaign_id: NAME_SCHEMA,
  app_id: NAME_SCHEMA,
  user_id: { type: 'string', minLength: 1, maxLength: SUBJECT_CHARACTERS_MAX },
} as const satisfies Record<string, TextSchema>;
type TextField = keyof typeof MUTATION_SCHEMA;

/** The second spelling of each field (contract section 1); both spellings with different values are a fault. */
const ALIASES = {
  mutation_id: 'mutationId',
  campaign_id: 'campaignId',
  app_id: 'appId',
  user_id: 'userId',
} as const satisfies Record<TextField, string>;
const KNOWN_FIELDS: ReadonlySet<string> = new Set(['ops', ...Object.entries(ALIASES).flat()]);

export interface MutationRequest {
  readonly operations: readonly Operation[];
  readonly mutationId: string | undefined;
  /** What the body names; without the campaign of the path. */
  readonly named: NamedOwner;
}

/**
 * Reads the body of a mutation, any JSON value, and the header that is an alias of `mutation_id`. Reports every fault.
 */
export function parseMutationRequest(
  body: unknown,
  idempotencyKey: string | undefined,
): { readonly request: MutationRequest } | { readonly faults: readonly Fault[] } {
  if (!isObject(body)) return { faults: [typeFault('', 'an object')] };
  const faults = new FaultList();
  const operations = parseOperations(body['ops']);
  if ('faults' in operations) faults.push(...operations.faults);
  const read = (field: TextField): NamedField[] =>
    textsOf(body, [field, ALIASES[field]], MUTATION_SCHEMA[field], faults);
  const mutationIds = read('mutation_id');
  if (idempotencyKey !== undefined) {
    const key = textOfHeader(idempotencyKey);
    if (key === undefined) faults.push(formatFault(IDEMPOTENCY_KEY, QUOTED_FORM));
    mutationIds.push(...textsOf({ [IDEMPOTENCY_KEY]: key }, [IDEMPOTENCY_KEY], MUTATION_SCHEMA.mutation_id, faults));
    faults.push(...conflictsIn(mutationIds));
  }
  const named = {
    campaigns: read('campaign_id'),
    apps: read('app_id'),
    users: read('user_id'),
  };
  addUnknownFields(body, KNOWN_FIELDS, { path: '', whole: 'a mutation' }, faults);
  if (!faults.isEmpty || 'faults' in operations) return { faults: faults.all() };
  return { request: { operations: operations.operations, mutationId: mutationIds[0]?.value, named } };
}

/** The text of a header in either form, `"abc"` (a string of RFC 9651) or `abc`; undefined for a malformed string. */
function textOfHeader(header: string): string | undefined {
  if (!header.startsWith('"')) return decoded(header);
  try {
    const [text] = parseItem(header) as readonly unknown[];
    return typeof text === 'string' ? text : undefined;
  } catch {
    // The library throws errors of several classes for malformed text.
    return undefined;
  }
}

/** Node.js decodes headers as Latin-1, in which browsers send them. Most other clients send UTF-8. */
function decoded(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
}

/** The value of a text field under its spellings; at most one entry. Null counts as absent. */
function textsOf(
  body: Readonly<Record<string, unknown>>,
  spellings: readonly string[],
  schema: TextSchema,
  faults: FaultList,
): NamedField[] {
  const found: NamedField[] = [];
  for (const field of spellings) {
    const value = body[field];
    if (isAbsent(value)) continue;
    const fault = typeof value === 'string' ? textFault(field, value, schema) : typeFault(field, 'a string');
    if (fault !== undefined) faults.push(fault);
    if (typeof value === 'string') found.push({ field, value });
  }
  if (found.length < 2) return found;
  faults.push(...conflictsIn(found));
  return found.slice(0, 1);
}

function textFault(field: string, value: string, schema: TextSchema): Fault | undefined {
  if ('pattern' in schema) return PATH_NAME.test(value) ? undefined : formatFault(field, PATH_NAME_FORM);
  if (value === '') return emptyFault(field);
  if (hasMoreCharacters(value, schema.maxLength)) return tooLongFault(field, schema.maxLength);
  return isStorable(value) ? undefined : invalidCharactersFault(field);
}

/** A fault for each spelling of a field whose value differs from the first one's. */
export function conflictsIn([first, ...others]: readonly NamedField[]): Fault[] {
  return others.flatMap(({ field, value }) => {
    if (first === undefined || value === first.value) return [];
    const message = `${field} and ${first.field} are the same field with different values; send one of them.`;
    return [{ path: field, code: 'conflicting_fields', message }];
  });
}
