import { EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../ingest/domain/event';
import type { Fault } from '../../platform/errors/fault';
import { FaultList } from '../../platform/errors/fault-list';
import {
  emptyFault,
  formatFault,
  invalidCharactersFault,
  requiredFault,
  tooLongFault,
  typeFault,
} from '../../platform/errors/fault-words';
import { addUnknownFields } from '../../platform/errors/unknown-fields';
import { isAbsent, isObject } from '../../platform/values/json/json-values';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import { PATH_NAME, PATH_NAME_FORM } from '../../platform/values/text/path-name';
import { OPS_SCHEMA } from '../../runtime/domain/operation';
import { conditionFaults, type Condition } from './condition';
import { parseReactionOperations } from './reaction-operations';
import type { ReactionDefinition } from './reaction';

/** The fields of a definition; the parser and the OpenAPI document both use them. Lengths are in characters. */
export const REACTION_SCHEMA = {
  name: { type: 'string', pattern: PATH_NAME.source },
  eventType: { type: 'string', minLength: 1, maxLength: EVENT_TYPE_CHARACTERS_MAX },
  source: { type: 'string', minLength: 1, maxLength: SOURCE_CHARACTERS_MAX },
  when: { type: 'object', additionalProperties: true },
  ops: OPS_SCHEMA,
  enabled: { type: 'boolean' },
} as const;
const FIELDS: ReadonlySet<string> = new Set(Object.keys(REACTION_SCHEMA));

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of `reactions:define` (contract section 8), any JSON value; null counts as absent. Faults: every one
 * of shape, names, condition and operations. Paths and types are not checked against the campaign's declarations here.
 *
 * A parser of its own, and not the compiled schema: a schema can express neither a condition nor `valueFrom`.
 * `test/integration/campaign-bodies.spec.ts` proves that both refuse the same bodies.
 */
export function parseReactionDefinition(
  body: unknown,
): { readonly definition: ReactionDefinition } | { readonly faults: readonly Fault[] } {
  if (!isObject(body)) return { faults: [typeFault('', 'an object')] };
  const faults = new FaultList();
  const name = nameOf(body, faults);
  const eventType = textOf(body, 'eventType', faults);
  if (eventType === undefined && isAbsent(body['eventType'])) faults.push(requiredFault('eventType'));
  const source = textOf(body, 'source', faults);
  const when = conditionOf(body, faults);
  const parsed = parseReactionOperations(body['ops']);
  if ('faults' in parsed) faults.push(...parsed.faults);
  const enabled = body['enabled'] ?? true;
  if (typeof enabled !== 'boolean') faults.push(typeFault('enabled', 'true or false'));
  addUnknownFields(body, FIELDS, { path: '', whole: 'a reaction' }, faults);
  if (!faults.isEmpty || 'faults' in parsed || name === undefined || eventType === undefined) {
    return { faults: faults.all() };
  }
  return { definition: { name, eventType, source, when, ops: parsed.ops, enabled: enabled === true } };
}

function nameOf(body: Fields, faults: FaultList): string | undefined {
  const name = body['name'];
  if (isAbsent(name)) faults.push(requiredFault('name'));
  else if (typeof name !== 'string') faults.push(typeFault('name', 'a string'));
  else if (PATH_NAME.test(name)) return name;
  else faults.push(formatFault('name', PATH_NAME_FORM));
  return undefined;
}

/** Text that the field of an event can have; types of the external family may be nearly any text. */
function textOf(body: Fields, field: 'eventType' | 'source', faults: FaultList): string | undefined {
  const text = body[field];
  const { maxLength } = REACTION_SCHEMA[field];
  if (isAbsent(text)) return undefined;
  if (typeof text !== 'string') faults.push(typeFault(field, 'a string'));
  else if (text.trim() === '') faults.push(emptyFault(field));
  else if (!isStorable(text)) faults.push(invalidCharactersFault(field));
  else if (hasMoreCharacters(text, maxLength)) faults.push(tooLongFault(field, maxLength));
  else return text;
  return undefined;
}

function conditionOf(body: Fields, faults: FaultList): Condition | undefined {
  const { when } = body;
  if (isAbsent(when)) return undefined;
  const found = conditionFaults(when);
  faults.push(...found);
  return found.length === 0 && isObject(when) ? when : undefined;
}
