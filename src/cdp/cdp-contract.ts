import { Inject, Injectable } from '@nestjs/common';
import { parseCdpIdentity } from '../identity/domain/identity-reference';
import { IdentityService } from '../identity/identity.service';
import { checkFields, joinFaults } from '../ingest/domain/event-fields';
import { FREE_FORM_DEPTH_MAX, FREE_FORM_KEYS_MAX, type FreeFormLimits } from '../ingest/domain/free-form';
import type { CheckedEvent, SentEvent } from '../ingest/domain/incoming-event';
import { textFields } from '../ingest/domain/text-fields';
import { Clock } from '../platform/clock/clock';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { ControlFeed } from '../platform/control/control-feed';
import { ControlMemory } from '../platform/control/control-memory';
import { describeFaults } from '../platform/errors/describe-faults';
import type { Fault } from '../platform/errors/fault';
import { BodyValidators } from '../platform/http/body-validators';
import { isObject } from '../platform/json/is-object';
import { compileContract } from './domain/event-contract';
import { EVENT_TYPE_NAME } from './domain/event-type-definition';
import { CdpEventDto } from './dto/cdp-event.dto';
import { EventTypeRepository } from './event-type.repository';

/** A registered event type, ready to check properties with. */
interface Contract {
  readonly version: number;
  readonly check: (properties: unknown) => readonly Fault[];
}

/** Compiled contracts of one node; one takes some tens of kilobytes. */
const CONTRACTS_MAX = 1_000;

/** Checks one JSON value as an event of the CDP family: what every event must be, and what its registered type says. */
@Injectable()
export class CdpContract {
  private readonly limits: FreeFormLimits;
  private readonly contracts: ControlMemory<Contract | 'unregistered'>;

  constructor(
    private readonly validators: BodyValidators,
    private readonly identity: IdentityService,
    private readonly types: EventTypeRepository,
    feed: ControlFeed,
    clock: Clock,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.limits = { bytesMax: settings.propertiesBytesMax, depthMax: FREE_FORM_DEPTH_MAX, keysMax: FREE_FORM_KEYS_MAX };
    this.contracts = new ControlMemory(feed, clock, CONTRACTS_MAX);
  }

  async check(tenantId: string, sent: SentEvent): Promise<CheckedEvent> {
    const payload = sent.value;
    const shape = this.validators.for<CdpEventDto>(CdpEventDto)(payload);
    const fieldsSent = isObject(payload) ? payload : {};
    const fields = checkFields(
      {
        source: { path: 'source', value: fieldsSent['source'] },
        externalEventId: { path: 'externalEventId', value: fieldsSent['externalEventId'] },
        eventType: { path: 'eventType', value: fieldsSent['eventType'] },
        occurredAt: { path: 'occurredAt', value: fieldsSent['occurredAt'] },
        properties: { path: 'properties', value: fieldsSent['properties'] },
      },
      this.limits,
    );
    const identity = parseCdpIdentity(textFields(fieldsSent['identity']), this.identity.rules);
    const ownFaults = joinFaults(shape.faults ?? [], fields.faults, 'faults' in identity ? identity.faults : []);
    const contract = await this.contractFor(tenantId, fieldsSent['eventType']);
    const faults = joinFaults(ownFaults, faultsByContract(contract, fieldsSent['properties']));
    if (faults.length > 0 || shape.value === undefined || 'faults' in identity || typeof contract !== 'object') {
      const refusal = { code: 'validation_failed', message: describeFaults(faults), details: faults } as const;
      return { family: 'cdp', sent, checked: { refusal } };
    }
    const { source, externalEventId, eventType, properties } = shape.value;
    const event = {
      family: 'cdp',
      ...{ source, externalEventId, eventType, eventTypeVersion: contract.version, occurredAt: fields.occurredAt },
      identifiers: identity.identifiers,
      identity: textFields(shape.value.identity),
      properties: properties ?? {},
    } as const;
    return { family: 'cdp', sent, checked: { event } };
  }

  /** Undefined when the event names no type that could be registered. */
  private async contractFor(tenantId: string, eventType: unknown): Promise<Contract | 'unregistered' | undefined> {
    if (typeof eventType !== 'string' || !EVENT_TYPE_NAME.test(eventType)) return undefined;
    const key = `${tenantId}/${eventType}`;
    const known = this.contracts.recall(key);
    if (known !== undefined) return known;
    return this.contracts.learn(key, async () => {
      const latest = await this.types.latest(tenantId, eventType);
      const value =
        latest === null
          ? 'unregistered'
          : {
              version: latest.version,
              check: compileContract(latest.definition),
            };
      return { value, subject: { tenantId, kind: 'event_type', id: eventType } };
    });
  }
}

function faultsByContract(contract: Contract | 'unregistered' | undefined, properties: unknown): readonly Fault[] {
  if (typeof contract === 'object') return contract.check(properties ?? {});
  const message = 'eventType is not registered in this workspace; register it first, or look for a typo.';
  return [{ path: 'eventType', code: 'unregistered_event_type', message }];
}
