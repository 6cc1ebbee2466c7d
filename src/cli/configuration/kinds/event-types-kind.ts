import type { EntityManager } from 'typeorm';
import { isAbsent, isObject } from '../../../platform/values/json/json-values';
import type { ListedEventType } from '../../../cdp/event-types/domain/event-type-page';
import { typeFault } from '../../../platform/errors/fault-words';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { compareDefinitions } from '../../../cdp/event-types/domain/contract-compatibility';
import { personalPropertiesOf, type EventTypeDefinition } from '../../../cdp/event-types/domain/event-type-definition';
import { parseDefinition } from '../../../cdp/event-types/domain/event-type-parser';
import type { EventTypeReader } from '../../../cdp/event-types/event-type-reader';
import type { EventTypesService } from '../../../cdp/event-types/event-types.service';
import type { Principal } from '../../../platform/auth/principal';
import {
  allOf,
  entryOf,
  textIn,
  without,
  type ApplyOptions,
  type ChangeReview,
  type ConfigurationEntry,
  type ConfigurationKind,
  type PlannedChange,
  type StoredConfigurationEntry,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';

/** Event types: the current version of each. Archiving deprecates; a deprecated type stays deprecated. */
export class EventTypesKind implements ConfigurationKind {
  readonly name = 'eventTypes';
  readonly archiving = { verb: 'deprecate', note: 'its events are still accepted, and it stays deprecated' };

  constructor(
    private readonly caller: Principal,
    private readonly budget: ByteBudget,
    private readonly reader: EventTypeReader,
    private readonly service: EventTypesService,
  ) {}

  keyOf(entry: ConfigurationEntry): string {
    return textIn(entry, 'eventType');
  }

  async read(manager?: EntityManager): Promise<readonly StoredConfigurationEntry[]> {
    const types = await allOf<ListedEventType>(async (after, limit) => {
      return this.budget.spend(await this.reader.after(this.caller.tenantId, after?.eventType ?? '', limit, manager));
    });
    return types.map(({ eventType, deprecatedAt, latest }) => ({
      key: eventType,
      entry: entryOfDefinition(latest.definition, deprecatedAt !== null),
      isArchived: deprecatedAt !== null,
    }));
  }

  parse(given: ConfigurationEntry): Promise<ConfigurationEntry> {
    const { deprecated } = given;
    const parsed = parseDefinition(without(given, 'deprecated'));
    const faults = 'faults' in parsed ? [...parsed.faults] : [];
    if (!isAbsent(deprecated) && deprecated !== true) {
      faults.push(typeFault('deprecated', 'true, or absent: a deprecated type stays deprecated'));
    }
    if ('faults' in parsed || faults.length > 0) return Promise.reject(validationFailed(faults));
    return Promise.resolve(entryOfDefinition(parsed.definition, deprecated === true));
  }

  merge(stored: ConfigurationEntry, given: ConfigurationEntry): ConfigurationEntry {
    return stored['deprecated'] === true ? { ...given, deprecated: true } : given;
  }

  isSame(stored: ConfigurationEntry, given: ConfigurationEntry): boolean {
    const { outcome } = compareDefinitions(definitionOf(stored), definitionOf(given));
    return stored['deprecated'] === given['deprecated'] && outcome === 'identical';
  }

  review(before: ConfigurationEntry | undefined, after: ConfigurationEntry): ChangeReview {
    return before === undefined ? {} : { breaks: compareDefinitions(definitionOf(before), definitionOf(after)).breaks };
  }

  apply(changes: readonly PlannedChange[], { allowBreaking, precondition }: ApplyOptions): Promise<void> {
    const work = changes.map(({ key, before, after }) => ({
      eventType: key,
      definition: after === undefined ? undefined : definitionOf(after),
      deprecates: (after === undefined || after['deprecated'] === true) && before?.['deprecated'] !== true,
    }));
    return this.service.changeAll(this.caller, work, { force: allowBreaking, precondition });
  }
}

/** What an event type declares personal when these entries are in force; its former versions apart. */
export function personalPropertiesIn(entries: readonly ConfigurationEntry[], eventType: string): readonly string[] {
  const own = entries.find((entry) => entry['eventType'] === eventType);
  return own === undefined ? [] : personalPropertiesOf(definitionOf(own));
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
