import { isObject } from '../../../platform/values/json/is-object';
import { typeFault } from '../../../platform/errors/fault-words';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { compareDefinitions } from '../../../cdp/event-types/domain/contract-compatibility';
import type { EventTypeDefinition } from '../../../cdp/event-types/domain/event-type-definition';
import { parseDefinition } from '../../../cdp/event-types/domain/event-type-parser';
import type { EventTypeReader } from '../../../cdp/event-types/event-type-reader';
import type { EventTypesService } from '../../../cdp/event-types/event-types.service';
import type { Principal } from '../../../platform/auth/principal';
import {
  allOf,
  entryOf,
  textIn,
  without,
  type ConfigurationEntry,
  type ConfigurationKind,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';

/** Event types: the current version of each. Archiving deprecates; a deprecated type stays deprecated. */
export function eventTypesKind(
  caller: Principal,
  budget: ByteBudget,
  { reader, service }: { readonly reader: EventTypeReader; readonly service: EventTypesService },
): ConfigurationKind {
  const { tenantId } = caller;
  return {
    name: 'eventTypes',
    archiving: { verb: 'deprecate', note: 'its events are still accepted, and it stays deprecated' },
    keyOf: (entry) => textIn(entry, 'eventType'),
    read: async (manager) => {
      const types = await allOf<Awaited<ReturnType<EventTypeReader['after']>>[number]>(async (after, limit) => {
        return budget.spend(await reader.after(tenantId, after?.eventType ?? '', limit, manager));
      });
      return types.map(({ eventType, deprecatedAt, latest }) => ({
        key: eventType,
        entry: entryOfDefinition(latest.definition, deprecatedAt !== null),
        isArchived: deprecatedAt !== null,
      }));
    },
    parse: (given) => {
      const { deprecated } = given;
      const parsed = parseDefinition(without(given, 'deprecated'));
      const faults = 'faults' in parsed ? [...parsed.faults] : [];
      if (deprecated !== undefined && deprecated !== null && deprecated !== true) {
        faults.push(typeFault('deprecated', 'true, or absent: a deprecated type stays deprecated'));
      }
      if ('faults' in parsed || faults.length > 0) return Promise.reject(validationFailed(faults));
      return Promise.resolve(entryOfDefinition(parsed.definition, deprecated === true));
    },
    merge: (stored, given) => (stored['deprecated'] === true ? { ...given, deprecated: true } : given),
    isSame: (stored, given) =>
      stored['deprecated'] === given['deprecated'] &&
      compareDefinitions(definitionOf(stored), definitionOf(given)).outcome === 'identical',
    review: (before, after) => ({
      breaks: before === undefined ? [] : compareDefinitions(definitionOf(before), definitionOf(after)).breaks,
    }),
    apply: (changes, { allowBreaking, precondition }) => {
      const work = changes.map(({ key, before, after }) => ({
        eventType: key,
        definition: after === undefined ? undefined : definitionOf(after),
        deprecates: (after === undefined || after['deprecated'] === true) && before?.['deprecated'] !== true,
      }));
      return service.changeAll(caller, work, { force: allowBreaking, precondition });
    },
  };
}

function entryOfDefinition(definition: EventTypeDefinition, deprecated: boolean): ConfigurationEntry {
  const { eventType, description, properties, additionalProperties } = definition;
  return entryOf(
    { eventType, description, properties, additionalProperties, deprecated },
    { additionalProperties: 'reject', deprecated: false },
  );
}

function definitionOf(entry: ConfigurationEntry): EventTypeDefinition {
  const parsed = parseDefinition(without(entry, 'deprecated'));
  // A stored definition may be older than a rule of the parser.
  if ('definition' in parsed) return parsed.definition;
  const { eventType, description, properties, additionalProperties } = entry;
  return {
    eventType: String(eventType),
    ...(typeof description === 'string' ? { description } : {}),
    properties: (isObject(properties) ? properties : {}) as EventTypeDefinition['properties'],
    additionalProperties: additionalProperties === 'allow' ? 'allow' : 'reject',
  };
}
