import { isObject } from '../../../platform/values/json/is-object';
import { hasPersonalName, isPersonalText, withoutPersonal } from '../../../platform/privacy/mask';
import type { EventTypeDefinition } from './event-type-definition';

/** Tells of a property whether it must not be judged: nothing may be said of its value, not even that it fits. */
export type IsLeftOut = (name: string) => boolean;

/** The properties that a definition declares `pii`. */
export function personalNames({ properties }: EventTypeDefinition): string[] {
  return Object.entries(properties).flatMap(([name, { pii }]) => (pii === true ? [name] : []));
}

/** Which properties of one event views would hide, by name or by value; a name alone also counts where it is absent. */
export function leftOutOf(properties: unknown, piiNames: ReadonlySet<string>): IsLeftOut {
  return (name) => hasPersonalName(name, piiNames) || isPersonalText(ownProperty(properties, name));
}

/** A refused event without the properties that views would hide, and which these are. */
export function withoutPersonalProperties(
  payload: unknown,
  piiNames: ReadonlySet<string>,
): { readonly value: unknown; readonly isLeftOut: IsLeftOut } {
  if (!isObject(payload) || !Object.hasOwn(payload, 'properties')) {
    return { value: payload, isLeftOut: leftOutOf(undefined, piiNames) };
  }
  const { properties } = payload;
  const value = { ...payload, properties: withoutPersonal(properties, piiNames) };
  return { value, isLeftOut: leftOutOf(properties, piiNames) };
}

function ownProperty(object: unknown, name: string): unknown {
  return isObject(object) ? Object.getOwnPropertyDescriptor(object, name)?.value : undefined;
}
