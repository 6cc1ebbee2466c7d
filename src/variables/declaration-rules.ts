import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { DomainError } from '../platform/errors/domain-error';
import type { VariableDefinition } from './domain/define-variable';
import type { VariableScope, VariableType } from './domain/variable';
import { VariableRepository } from './variable.repository';

/**
 * Names that a scope may have declared for each variable that it may have in force. The values of archived ones are kept, all of
 * a participant's in one document, which each mutation of it reads and writes.
 */
const NAMES_PER_VARIABLE_MAX = 10;

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
    const other = await this.variables.findDisagreeing(manager, tenantId, { ...definition, campaignId });
    if (other === null) return;
    const words = `Another campaign declares state.app.${name} with other limits or another period. Campaigns share its values, so declare the same, or archive it in the other campaigns first.`;
    throw new DomainError('variable_rules_conflict', words);
  }

  /**
   * Throws `variable_limit_exceeded`, for a definition that puts a variable in force; `isNewName`: none was archived under that
   * name. The campaign must be locked.
   */
  async assertBelowLimit(
    manager: EntityManager,
    tenantId: string,
    { campaignId, scope, isNewName }: { campaignId: string; scope: VariableScope; isNewName: boolean },
  ): Promise<void> {
    const max = this.settings.variablesPerScopeMax;
    const { inForce, names } = await this.variables.count(manager, tenantId, { campaignId, scope });
    if (inForce >= max) {
      const words = `The campaign already has ${max} variables in the scope ${scope}, which is the limit; archive one that is no longer used.`;
      throw new DomainError('variable_limit_exceeded', words);
    }
    if (isNewName && names >= max * NAMES_PER_VARIABLE_MAX) {
      const words = `The campaign has declared ${names} names in the scope ${scope}, which is the limit; archived ones count, since their values are kept. Define an archived variable again, or use another campaign.`;
      throw new DomainError('variable_limit_exceeded', words);
    }
  }
}

export function typeConflict({ scope, name }: VariableDefinition, type: VariableType, whose: string): DomainError {
  const words = `${whose} declared state.${scope}.${name} with the type ${type}. A type never changes, also in the archive, because values of it are stored; declare that type, or choose another name.`;
  return new DomainError('variable_type_conflict', words);
}
