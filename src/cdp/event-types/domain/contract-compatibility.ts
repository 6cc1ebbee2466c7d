import type { Fault } from '../../../platform/errors/fault';
import type { FaultCode } from '../../../platform/errors/fault-codes';
import { fieldPath } from '../../../platform/errors/fault-words';
import type { EventTypeDefinition, PropertyDefinition } from './event-type-definition';

export interface Comparison {
  /** `breaking` if and only if there are `breaks`. */
  readonly outcome: 'identical' | 'compatible' | 'breaking';
  readonly breaks: readonly Fault[];
}

/**
 * What a new version means to those who send and read events by the last one (contract section 4). Breaking is what
 * could refuse an event that was right, or take from readers what they were promised. The order of properties and of
 * enum values does not count, nor does writing a default out (`required: false`).
 *
 * An undeclared property that `allow` let through may have had any type. Declaring it is compatible all the same, as
 * every new optional property is: otherwise nothing could ever be declared. `event-types:check` counts the stored
 * events that would fail.
 */
export function compareDefinitions(previous: EventTypeDefinition, next: EventTypeDefinition): Comparison {
  const breaks: Fault[] = [];
  if (previous.additionalProperties === 'allow' && next.additionalProperties === 'reject') {
    const message = 'additionalProperties becomes reject: events with undeclared properties would be refused.';
    breaks.push({ path: 'additionalProperties', code: 'additional_properties_rejected', message });
  }
  for (const [name, before] of Object.entries(previous.properties)) {
    breaks.push(...breaksOfProperty(fieldPath('properties', name), before, own(next, name)));
  }
  for (const [name, after] of Object.entries(next.properties)) {
    if (after.required !== true || own(previous, name) !== undefined) continue;
    breaks.push(
      aBreak(fieldPath('properties', name), 'property_added_required', 'is new and required; make it optional'),
    );
  }
  if (breaks.length > 0) return { outcome: 'breaking', breaks };
  return { outcome: meaning(previous) === meaning(next) ? 'identical' : 'compatible', breaks };
}

function breaksOfProperty(path: string, before: PropertyDefinition, after: PropertyDefinition | undefined): Fault[] {
  // Also where undeclared properties are allowed: segments, reactions and the mask of a pii property read what was
  // declared, and the next version could declare it anew with another type.
  if (after === undefined)
    return [aBreak(path, 'property_removed', 'is no longer declared; keep it as an optional property')];
  const breaks: Fault[] = [];
  // Every integer is a number.
  const isSameType = before.type === after.type || (before.type === 'integer' && after.type === 'number');
  if (!isSameType) {
    breaks.push(aBreak(path, 'property_type_changed', `was ${before.type} and becomes ${after.type}`));
  }
  if (before.required !== true && after.required === true) {
    breaks.push(aBreak(path, 'property_made_required', 'was optional and becomes required'));
  }
  // Of another type no value fits any more; that its enum or format differs too says nothing new.
  if (isSameType && losesValues(before.enum, after.enum)) {
    breaks.push(aBreak(path, 'enum_narrowed', 'takes fewer values than before; keep every value, or drop the enum'));
  }
  if (isSameType && after.format !== undefined && after.format !== before.format) {
    breaks.push(
      aBreak(path, 'format_changed', `must have the format ${after.format}, which it did not have to before`),
    );
  }
  return breaks;
}

function losesValues(before: PropertyDefinition['enum'], after: PropertyDefinition['enum']): boolean {
  if (after === undefined) return false;
  return before === undefined || before.some((value) => !after.includes(value));
}

function aBreak(path: string, code: FaultCode, words: string): Fault {
  return { path, code, message: `${path} ${words}.` };
}

function own(definition: EventTypeDefinition, name: string): PropertyDefinition | undefined {
  return Object.hasOwn(definition.properties, name) ? definition.properties[name] : undefined;
}

/** Equal text for two definitions that mean the same. */
function meaning({ description, properties, additionalProperties }: EventTypeDefinition): string {
  const sorted = Object.entries(properties)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, property]) => [
      name,
      property.type,
      property.required === true,
      property.enum?.map((value) => JSON.stringify(value)).toSorted() ?? null,
      property.format ?? null,
      property.description ?? null,
      property.segmentable === true,
      property.pii === true,
    ]);
  return JSON.stringify([description ?? null, additionalProperties, sorted]);
}
