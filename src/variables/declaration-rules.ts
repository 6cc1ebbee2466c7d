import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { DomainError } from '../platform/errors/domain-error';
import { hasSameRules, type VariableDefinition } from './domain/define-variable';
import type { VariableType } from './domain/variable';
import { VariableRepository } from './variable.repository';

/** What a definition must be consistent with: the other declarations of its campaign and of the workspace. */
@Injectable()
export class DeclarationRules {
  constructor(
    private readonly variables: VariableRepository,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /**
   * Throws `variable_type_conflict`, `variable_rules_conflict`, for a name of the scope `app`. Locks the name in the
   * workspace. The definition may be stored already.
   */
  async assertAgreement(
    manager: EntityManager,
    tenantId: string,
    campaignId: string,
    definition: VariableDefinition,
  ): Promise<void> {
    const { name, type } = definition;
    const agreed = await this.variables.agreedAppType(manager, tenantId, name, type);
    if (agreed !== type) throw typeConflict(definition, agreed, 'Another campaign');
    const other = await this.variables.findInOtherCampaign(manager, tenantId, name, campaignId);
    if (other === null || hasSameRules(other, definition)) return;
    const words = `Another campaign declares state.app.${name} with other limits or another period. Campaigns share its values, so declare the same, or archive it in the other campaigns first.`;
    throw new DomainError('variable_rules_conflict', words);
  }

  /** Throws `variable_limit_exceeded`. The campaign must be locked. */
  async assertBelowLimit(
    manager: EntityManager,
    tenantId: string,
    campaignId: string,
    { scope }: VariableDefinition,
  ): Promise<void> {
    const max = this.settings.variablesPerScopeMax;
    if ((await this.variables.countActive(manager, tenantId, { campaignId, scope })) < max) return;
    const words = `The campaign already has ${max} variables in the scope ${scope}, which is the limit; archive one that is no longer used.`;
    throw new DomainError('variable_limit_exceeded', words);
  }
}

export function typeConflict({ scope, name }: VariableDefinition, type: VariableType, whose: string): DomainError {
  const words = `${whose} declared state.${scope}.${name} with the type ${type}. A type never changes, also in the archive, because values of it are stored; declare that type, or choose another name.`;
  return new DomainError('variable_type_conflict', words);
}
