import { Inject, Injectable } from '@nestjs/common';
import { parseCdpIdentity } from '../identity/domain/identity-reference';
import { IdentityService } from '../identity/identity.service';
import type { EventFields, ParsedEvent } from '../ingest/domain/event';
import type { Submission } from '../ingest/domain/submission';
import { checkFields, joinFaults, refuseInvalid, textFields } from '../ingest/parse/event-fields';
import { FAULTS_PER_EVENT_MAX } from '../ingest/domain/fault-budget';
import { explainOtherFamily } from '../ingest/domain/field-names';
import { freeFormLimits, type FreeFormLimits } from '../ingest/parse/free-form';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Fault } from '../platform/errors/fault';
import { BodyValidators } from '../platform/http/body/body-validators';
import { isObject } from '../platform/values/json/json-values';
import { CdpEventDto } from './dto/cdp-event.dto';
import { type Contract, EventTypeContracts } from './event-types/event-type-contracts';

/** Checks a JSON value as an event of the CDP family: what every event must be, and what its registered type says. */
@Injectable()
export class CdpEventParser {
  private readonly limits: FreeFormLimits;

  constructor(
    private readonly validators: BodyValidators,
    private readonly identity: IdentityService,
    private readonly contracts: EventTypeContracts,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.limits = freeFormLimits(settings);
  }

  async parse(tenantId: string, submission: Submission): Promise<ParsedEvent> {
    const { value } = submission;
    const eventType = isObject(value) ? value['eventType'] : undefined;
    return this.parseBy(await this.contracts.find(tenantId, eventType), submission);
  }

  /** Checks an event as if its type had this contract; undefined where no type could have its name. */
  parseBy(contract: Contract | 'unregistered' | undefined, submission: Submission): ParsedEvent {
    const payload = submission.value;
    const faultsMax = submission.faults?.share ?? FAULTS_PER_EVENT_MAX;
    const shape = this.validators.for<CdpEventDto>(CdpEventDto)(payload, faultsMax);
    const sent = isObject(payload) ? payload : {};
    const checked = checkFields('cdp', payload, this.limits, faultsMax);
    const identity = parseCdpIdentity(textFields(sent['identity']), this.identity.rules);
    const shapeFaults = explainOtherFamily('cdp', shape.faults ?? []);
    const ownFaults = joinFaults(shapeFaults, checked.faults, 'faults' in identity ? identity.faults : []);
    const faults = joinFaults(ownFaults, faultsByContract(contract, sent['properties']));
    if (ownFaults.length > 0 || shape.value === undefined || 'faults' in identity) {
      return refuseInvalid(submission, faults);
    }
    const { source, externalEventId, eventType, properties } = shape.value;
    const fields: EventFields = {
      family: 'cdp',
      source,
      externalEventId,
      eventType,
      eventTypeVersion: typeof contract === 'object' ? contract.version : null,
      occurredAt: checked.occurredAt,
      identifiers: identity.identifiers,
      identity: textFields(shape.value.identity),
      properties: properties ?? {},
    };
    if (faults.length > 0 || typeof contract !== 'object') return refuseInvalid(submission, faults, fields);
    return { fields, isDeprecated: contract.isDeprecated };
  }
}

function faultsByContract(contract: Contract | 'unregistered' | undefined, properties: unknown): readonly Fault[] {
  if (typeof contract === 'object') return contract.check(properties ?? {});
  const message = 'eventType is not registered in this workspace; register it first, or look for a typo.';
  return [{ path: 'eventType', code: 'unregistered_event_type', message }];
}
