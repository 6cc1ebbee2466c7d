import { isObject } from '../../platform/values/json/is-object';

/** The text among the fields of an object; a check of its shape names what else is there. */
export function textFields(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(entries);
}
