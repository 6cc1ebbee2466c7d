import { similarName } from '../../platform/values/text/similar-name';
import { IDENTITY_FIELDS, RECORD_BRANCHES, RECORD_FIELDS } from './event-record';

/**
 * The path of an event's record that was probably meant by one that it does not have: the same below a field of a similar
 * name (`attributes.amount`: `properties.amount`), or below `identity`. Undefined when none is close.
 */
export function meantPath([first = '', ...below]: readonly string[]): string | undefined {
  const isField = RECORD_FIELDS.some((field) => field === first);
  if (first === 'identity' && below.length > 0) {
    const name = similarName(below[0] ?? '', IDENTITY_FIELDS);
    return name === undefined ? undefined : `identity.${name}`;
  }
  if (isField) return RECORD_BRANCHES.has(first) ? undefined : first;
  const field = similarName(first, RECORD_FIELDS);
  if (field !== undefined && RECORD_BRANCHES.has(field) === below.length > 0) return [field, ...below].join('.');
  const isIdentity = below.length === 0 && IDENTITY_FIELDS.some((name) => name === first);
  return isIdentity ? `identity.${first}` : undefined;
}
