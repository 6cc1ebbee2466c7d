import { Inject, Injectable } from '@nestjs/common';
import { parseIdentityReference } from '../../identity/domain/identity-reference';
import { IdentityService } from '../../identity/identity.service';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { BodyValidators } from '../../platform/http/body/body-validators';
import { isObject } from '../../platform/values/json/json-values';
import type { EventFields, ParsedEvent } from '../domain/event';
import type { Submission } from '../domain/submission';
import { ExternalEventDto } from '../http/dto/external-event.dto';
import { checkFields, joinFaults, refuseInvalid, textFields } from './event-fields';
import { FAULTS_PER_EVENT_MAX } from '../domain/fault-budget';
import { explainOtherFamily } from '../domain/field-names';
import { freeFormLimits, type FreeFormLimits } from './free-form';

/** Checks a JSON value as an event of the external-events family: shape, text, time, identity, limits; every fault. */
@Injectable()
export class ExternalEventParser {
  private readonly limits: FreeFormLimits;

  constructor(
    private readonly validators: BodyValidators,
    private readonly identity: IdentityService,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.limits = freeFormLimits(settings);
  }

  parse(submission: Submission): ParsedEvent {
    const { value } = submission;
    const faultsMax = submission.faults?.share ?? FAULTS_PER_EVENT_MAX;
    const shape = this.validators.for<ExternalEventDto>(ExternalEventDto)(value, faultsMax);
    const checked = checkFields('external', value, this.limits, faultsMax);
    const identity = parseIdentityReference(
      textFields(isObject(value) ? value['identity'] : undefined),
      this.identity.rules,
    );
    const shapeFaults = explainOtherFamily('external', shape.faults ?? []);
    const faults = joinFaults(shapeFaults, checked.faults, 'faults' in identity ? identity.faults : []);
    if (faults.length > 0 || shape.value === undefined || 'faults' in identity) {
      return refuseInvalid(submission, faults);
    }
    const { source, external_event_id: externalEventId, type, identity: reference, attributes } = shape.value;
    const fields: EventFields = {
      family: 'external',
      source,
      externalEventId,
      eventType: type,
      eventTypeVersion: null,
      occurredAt: checked.occurredAt,
      identifiers: identity.identifiers,
      identity: { type: reference.type, value: reference.value },
      properties: attributes ?? {},
    };
    return { fields };
  }
}
