import { EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../ingest/domain/event-limits';
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
import { isAbsent } from '../../platform/values/json/is-absent';
import { isObject } from '../../platform/values/json/is-object';
import { hasMoreCharacters } from '../../platform/values/text/character-count';
import { PATH_NAME, PATH_NAME_FORM } from '../../platform/values/text/path-name';
import { isStorable } from '../../platform/values/text/storable-text';
import { conditionFaults, type Condition } from './condition';
import { parseReactionOperations } from './reaction-operations';
import type { ReactionDefinition } from './reaction';

const FIELDS: ReadonlySet<string> = new Set(['name', 'eventType', 'source', 'when', 'ops', 'enabled']);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of `reactions:define` (contract section 8), any JSON value; what it does not say is not set, and null means
 * absent. Faults: every one of shape, names, condition and operations; what the campaign declares is not asked here.
 */
export function parseReactionDefinition(
  body: unknown,
): { readonly definition: ReactionDefinition } | { readonly faults: readonly Fault[] } {
  if (!isObject(body)) return { faults: [typeFault('', 'an object')] };
  const faults = new FaultList();
  const name = nameOf(body, faults);
  const eventType = textOf(body, 'eventType', EVENT_TYPE_CHARACTERS_MAX, faults);
  if (eventType === undefined && isAbsent(body['eventType'])) faults.push(requiredFault('eventType'));
  const source = textOf(body, 'source', SOURCE_CHARACTERS_MAX, faults);
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

/** What events can have there; of the external family a type may be nearly any text. */
function textOf(body: Fields, field: string, charactersMax: number, faults: FaultList): string | undefined {
  const text = body[field];
  if (isAbsent(text)) return undefined;
  if (typeof text !== 'string') faults.push(typeFault(field, 'a string'));
  else if (text.trim() === '') faults.push(emptyFault(field));
  else if (!isStorable(text)) faults.push(invalidCharactersFault(field));
  else if (hasMoreCharacters(text, charactersMax)) faults.push(tooLongFault(field, charactersMax));
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
