import { Inject, Injectable } from '@nestjs/common';
import { parseIdentityReference } from '../../identity/domain/identity-reference';
import { IdentityService } from '../../identity/identity.service';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { BodyValidators } from '../../platform/http/body/body-validators';
import { isObject } from '../../platform/values/json/is-object';
import { checkFields, joinFaults, refuseInvalid } from './event-fields';
import { FAULTS_PER_EVENT_MAX } from './fault-budget';
import { FREE_FORM_DEPTH_MAX, FREE_FORM_KEYS_MAX, type FreeFormLimits } from './free-form';
import type { CheckedEvent, SentEvent } from '../domain/incoming-event';
import { explainOtherFamily } from './other-family';
import { textFields } from './text-fields';
import { ExternalEventDto } from '../http/dto/external-event.dto';

/** Checks one JSON value as an event of the external-events family: shape, text, time, identity, limits; every fault. */
@Injectable()
export class ExternalEventCheck {
  private readonly limits: FreeFormLimits;

  constructor(
    private readonly validators: BodyValidators,
    private readonly identity: IdentityService,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.limits = { bytesMax: settings.propertiesBytesMax, depthMax: FREE_FORM_DEPTH_MAX, keysMax: FREE_FORM_KEYS_MAX };
  }

  check(sent: SentEvent): CheckedEvent {
    const payload = sent.value;
    const faultsMax = sent.faults?.share ?? FAULTS_PER_EVENT_MAX;
    const shape = this.validators.for<ExternalEventDto>(ExternalEventDto)(payload, faultsMax);
    const fields = checkFields('external', payload, this.limits, faultsMax);
    const identity = parseIdentityReference(
      textFields(isObject(payload) ? payload['identity'] : undefined),
      this.identity.rules,
    );
    const named = explainOtherFamily('external', shape.faults ?? []);
    const faults = joinFaults(named, fields.faults, 'faults' in identity ? identity.faults : []);
    if (faults.length > 0 || shape.value === undefined || 'faults' in identity) {
      return refuseInvalid('external', sent, faults);
    }
    const { source, external_event_id: externalEventId, type, identity: reference, attributes } = shape.value;
    const event = {
      family: 'external',
      ...{ source, externalEventId, eventType: type, eventTypeVersion: null, occurredAt: fields.occurredAt },
      identifiers: identity.identifiers,
      identity: { type: reference.type, value: reference.value },
      properties: attributes ?? {},
    } as const;
    return { family: 'external', sent, checked: { event } };
  }
}
