import type { ErrorObject } from 'ajv';
import { parseTimestamp } from '../../values/timestamp';
import { timestampFault } from '../../errors/fault-words';
import type { Fault } from '../../errors/fault';
import * as words from '../../errors/fault-words';
import { type LocatedFault, locatedFault, resolvePointer, stepTo } from './fault-location';
import type { Shape } from './body-schema';

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  null: 'null',
};
const LIMIT_WORDS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};
/** Longer patterns are not shown in messages. */
const SHOWN_PATTERN_LENGTH_MAX = 80;

/** Converts an error of Ajv to a fault with its location in the validated body. */
export function locatedFaultOf(error: ErrorObject, body: unknown, bodyShape: Shape | undefined): LocatedFault {
  const { location, value, shape } = resolvePointer(error.instancePath, body, bodyShape);
  if (error.keyword !== 'required') return locatedFault(location, (path) => faultOf(error, path, value));
  return locatedFault(stepTo(location, String(error.params['missingProperty']), value, shape), words.requiredFault);
}

function faultOf({ keyword, params }: ErrorObject, path: string, value: unknown): Fault {
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'type':
      return words.typeFault(path, typeWords(params['type']));
    case 'maxLength':
      return words.tooLongFault(path, limit);
    case 'minLength':
      return limit === 1 ? words.emptyFault(path) : words.tooShortFault(path, limit);
    case 'enum':
      return words.enumFault(path, params['allowedValues'] as unknown[]);
    case 'pattern':
      return words.formatFault(path, patternWords(String(params['pattern'])));
    case 'format':
      return formatFault(path, String(params['format']), value);
    case 'multipleOf':
      return words.rangeFault(path, `a multiple of ${String(params['multipleOf'])}`);
    case 'minItems':
      return words.tooFewItemsFault(path, limit);
    case 'minProperties':
      return { path, code: 'required', message: `${words.subject(path)} needs ${limit} or more fields.` };
    case 'uniqueItems':
      return { path, code: 'duplicate', message: `${words.subject(path)} lists an entry more than once.` };
    default:
      return words.rangeFault(path, `${LIMIT_WORDS[String(params['comparison'])] ?? 'within'} ${limit}`);
  }
}

function typeWords(types: unknown): string {
  return [types]
    .flat()
    .map((type) => TYPE_WORDS[String(type)] ?? String(type))
    .join(' or ');
}

function patternWords(pattern: string): string {
  if (pattern.length > SHOWN_PATTERN_LENGTH_MAX) return 'has characters or a form that the field does not take';
  return `does not match ${pattern}`;
}

function formatFault(path: string, format: string, value: unknown): Fault {
  if (format === 'uuid') return words.formatFault(path, 'is not a UUID');
  if (format === 'uri') return words.formatFault(path, 'is not an absolute URI');
  const time = parseTimestamp(String(value));
  return timestampFault('code' in time ? time.code : 'format', path);
}
