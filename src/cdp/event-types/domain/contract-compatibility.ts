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
 * Compares a new version with the one before it (contract section 4). A change is breaking if it could refuse events
 * that were valid, or remove a guarantee for readers. The order of properties and enum values does not matter, nor does
 * an explicit default (`required: false`).
 *
 * With `additionalProperties: allow`, an undeclared property may have had any type. Declaring it is compatible
 * nevertheless, like every new optional property; `event-types:check` counts the stored events that would fail.
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
      breakFault(fieldPath('properties', name), 'property_added_required', 'is new and required; make it optional'),
    );
  }
  if (breaks.length > 0) return { outcome: 'breaking', breaks };
  return { outcome: canonicalText(previous) === canonicalText(next) ? 'identical' : 'compatible', breaks };
}

function breaksOfProperty(path: string, before: PropertyDefinition, after: PropertyDefinition | undefined): Fault[] {
  // Breaking even if undeclared properties are allowed: segments, reactions and masking read the declaration, and a
  // later version could declare the property with another type.
  if (after === undefined)
    return [breakFault(path, 'property_removed', 'is no longer declared; keep it as an optional property')];
  const breaks: Fault[] = [];
  // Every integer is a number.
  const isSameType = before.type === after.type || (before.type === 'integer' && after.type === 'number');
  if (!isSameType) {
    breaks.push(breakFault(path, 'property_type_changed', `was ${before.type} and becomes ${after.type}`));
  }
  if (before.required !== true && after.required === true) {
    breaks.push(breakFault(path, 'property_made_required', 'was optional and becomes required'));
  }
  // After a change of the type no value fits, so that a changed enum or format adds nothing.
  if (isSameType && losesValues(before.enum, after.enum)) {
    breaks.push(
      breakFault(path, 'enum_narrowed', 'takes fewer values than before; keep every value, or drop the enum'),
    );
  }
  if (isSameType && after.format !== undefined && after.format !== before.format) {
    breaks.push(
      breakFault(path, 'format_changed', `must have the format ${after.format}, which it did not have to before`),
    );
  }
  return breaks;
}

function losesValues(before: PropertyDefinition['enum'], after: PropertyDefinition['enum']): boolean {
  if (after === undefined) return false;
  return before === undefined || before.some((value) => !after.includes(value));
}

function breakFault(path: string, code: FaultCode, words: string): Fault {
  return { path, code, message: `${path} ${words}.` };
}

function own(definition: EventTypeDefinition, name: string): PropertyDefinition | undefined {
  return Object.hasOwn(definition.properties, name) ? definition.properties[name] : undefined;
}

/** A text that is equal for equivalent definitions. */
function canonicalText({ description, properties, additionalProperties }: EventTypeDefinition): string {
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
