import { Inject, Injectable } from '@nestjs/common';
import { parseCdpIdentity } from '../identity/domain/identity-reference';
import { IdentityService } from '../identity/identity.service';
import { checkFields, joinFaults, refuseInvalid } from '../ingest/parse/event-fields';
import { FAULTS_PER_EVENT_MAX } from '../ingest/parse/fault-budget';
import { FREE_FORM_DEPTH_MAX, FREE_FORM_KEYS_MAX, type FreeFormLimits } from '../ingest/parse/free-form';
import type { CheckedEvent, SentEvent } from '../ingest/domain/incoming-event';
import { explainOtherFamily } from '../ingest/parse/other-family';
import { textFields } from '../ingest/parse/text-fields';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Fault } from '../platform/errors/fault';
import { BodyValidators } from '../platform/http/body/body-validators';
import { isObject } from '../platform/values/json/is-object';
import { CdpEventDto } from './dto/cdp-event.dto';
import { type Contract, EventTypeContracts } from './event-types/event-type-contracts';

/** Checks one JSON value as an event of the CDP family: what every event must be, and what its registered type says. */
@Injectable()
export class CdpContract {
  private readonly limits: FreeFormLimits;

  constructor(
    private readonly validators: BodyValidators,
    private readonly identity: IdentityService,
    private readonly contracts: EventTypeContracts,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.limits = { bytesMax: settings.propertiesBytesMax, depthMax: FREE_FORM_DEPTH_MAX, keysMax: FREE_FORM_KEYS_MAX };
  }

  async check(tenantId: string, sent: SentEvent): Promise<CheckedEvent> {
    const eventType = isObject(sent.value) ? sent.value['eventType'] : undefined;
    return this.checkBy(await this.contracts.find(tenantId, eventType), sent);
  }

  /** Checks an event as if its type said what `contract` says; undefined where no type could have its name. */
  checkBy(contract: Contract | 'unregistered' | undefined, sent: SentEvent): CheckedEvent {
    const payload = sent.value;
    const faultsMax = sent.faults?.share ?? FAULTS_PER_EVENT_MAX;
    const shape = this.validators.for<CdpEventDto>(CdpEventDto)(payload, faultsMax);
    const fieldsSent = isObject(payload) ? payload : {};
    const fields = checkFields('cdp', payload, this.limits, faultsMax);
    const identity = parseCdpIdentity(textFields(fieldsSent['identity']), this.identity.rules);
    const named = explainOtherFamily('cdp', shape.faults ?? []);
    const ownFaults = joinFaults(named, fields.faults, 'faults' in identity ? identity.faults : []);
    const faults = joinFaults(ownFaults, faultsByContract(contract, fieldsSent['properties']));
    if (ownFaults.length > 0 || shape.value === undefined || 'faults' in identity) {
      return refuseInvalid('cdp', sent, faults);
    }
    const { source, externalEventId, eventType, properties } = shape.value;
    const eventTypeVersion = typeof contract === 'object' ? contract.version : null;
    const event = {
      family: 'cdp',
      ...{ source, externalEventId, eventType, eventTypeVersion, occurredAt: fields.occurredAt },
      identifiers: identity.identifiers,
      identity: textFields(shape.value.identity),
      properties: properties ?? {},
    } as const;
    if (faults.length > 0 || typeof contract !== 'object') return refuseInvalid('cdp', sent, faults, event);
    return { family: 'cdp', sent, checked: { event, isDeprecated: contract.isDeprecated } };
  }
}

function faultsByContract(contract: Contract | 'unregistered' | undefined, properties: unknown): readonly Fault[] {
  if (typeof contract === 'object') return contract.check(properties ?? {});
  const message = 'eventType is not registered in this workspace; register it first, or look for a typo.';
  return [{ path: 'eventType', code: 'unregistered_event_type', message }];
}
