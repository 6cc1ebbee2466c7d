import { Inject, Injectable } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Fault } from '../platform/errors/fault';
import {
  emptyFault,
  formatFault,
  invalidCharactersFault,
  itemPath,
  requiredFault,
} from '../platform/errors/fault-words';
import { BodyValidators } from '../platform/http/body/body-validators';
import { publicUrlFault } from '../platform/net/public-address';
import { SecretBox } from '../platform/secrets/secret-box';
import { isAbsent, isObject } from '../platform/values/json/json-values';
import { isStorable } from '../platform/values/text/text-rules';
import { conditionFaults } from '../reactions/domain/condition';
import { RESERVED_NAMES } from '../variables/domain/variable';
import type { ChangeWebhookDto, CreateWebhookDto } from './dto/webhook.dto';

type Fields = Readonly<Record<string, unknown>>;

/** Checks the bodies of endpoints: their shape by the DTO, and the rules beyond it. Reports all faults together. */
@Injectable()
export class WebhookDefinitionCheck {
  private readonly allowPrivate: boolean;

  constructor(
    private readonly validators: BodyValidators,
    private readonly box: SecretBox,
    @Inject(SETTINGS_TOKEN) { webhooksAllowPrivate }: Settings,
  ) {
    this.allowPrivate = webhooksAllowPrivate === 'true';
  }

  /** Throws `validation_failed`. */
  check<Body extends CreateWebhookDto | ChangeWebhookDto>(dto: Type<Body>, body: unknown): Body {
    return this.validators.check<Body>(dto, body, (fields) => this.ruleFaults(fields));
  }

  /** A field of another type is ignored here, because the DTO's check reports it. */
  private ruleFaults(body: Fields): Fault[] {
    const { url, events, description } = body;
    const words = typeof url === 'string' ? publicUrlFault(url, this.allowPrivate) : undefined;
    return [
      ...(words === undefined ? [] : [formatFault('url', words)]),
      ...textFaults('description', description),
      ...(Array.isArray(events) ? events.flatMap((rule, index) => faultsOfRule(rule, itemPath('events', index))) : []),
      ...(this.box.canSeal ? [] : [NO_KEY]),
    ];
  }
}

const NO_KEY: Fault = {
  path: '',
  code: 'secrets_key_missing',
  message: 'This service has no key to encrypt secrets of webhooks with. Have the operator set SECRETS_KEY.',
};

function faultsOfRule(rule: unknown, path: string): readonly Fault[] {
  if (!isObject(rule)) return [];
  const { eventType, source, when, change } = rule;
  if (!isAbsent(change)) return faultsOfChangeRule(rule, path);
  return [
    ...(isAbsent(eventType) ? [requiredFault(`${path}.eventType`)] : nameFaults(`${path}.eventType`, eventType)),
    ...nameFaults(`${path}.source`, source),
    ...(isObject(when) ? conditionFaults(when, `${path}.when`) : []),
  ];
}

/** The variable need not be declared: a rule for events does not need their type, either. */
function faultsOfChangeRule({ change, ...others }: Fields, path: string): readonly Fault[] {
  const excluded = ['eventType', 'source', 'when'].filter((field) => !isAbsent(others[field]));
  const { scope, name, campaignId } = isObject(change) ? change : {};
  return [
    ...excluded.map((field) => notWithChangeFault(`${path}.${field}`)),
    ...(typeof name === 'string' && RESERVED_NAMES.has(name) ? [reservedFault(`${path}.change.name`)] : []),
    ...(scope === 'app' && !isAbsent(campaignId) ? [appFault(`${path}.change.campaignId`)] : []),
  ];
}

function notWithChangeFault(path: string): Fault {
  const message = `${path} is for events and cannot be set beside change; write two entries.`;
  return { path, code: 'conflicting_fields', message };
}

function reservedFault(path: string): Fault {
  return { path, code: 'reserved_name', message: `${path} is reserved for the service; no variable has this name.` };
}

function appFault(path: string): Fault {
  const message = `${path} cannot be set for the scope app, whose values belong to no campaign; leave it out.`;
  return { path, code: 'conflicting_fields', message };
}

function nameFaults(path: string, text: unknown): Fault[] {
  if (typeof text !== 'string') return [];
  return text.trim() === '' ? [emptyFault(path)] : textFaults(path, text);
}

function textFaults(path: string, text: unknown): Fault[] {
  return typeof text === 'string' && !isStorable(text) ? [invalidCharactersFault(path)] : [];
}
