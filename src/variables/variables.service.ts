import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { InvalidationFeed } from '../platform/invalidation/invalidation-feed';
import { InvalidatingCache } from '../platform/invalidation/invalidating-cache';
import { DomainError } from '../platform/errors/domain-error';
import { KeyedMutex } from '../platform/async/keyed-mutex';
import { DeclarationStore, declarationsSubject } from './declaration-store';
import { byScopeAndName, Declarations } from './domain/declarations';
import { effectOf, hasSameRules, mayLeaveValuesOutside, type VariableDefinition } from './domain/define-variable';
import type { Declaration, VariableType } from './domain/variable';
import type { Variable } from './entities/variable.entity';
import { LimitsCheck } from './limits-check';
import { LimitsConfirmation } from './limits-confirmation';
import { confirmedDeclaration, replacedDeclaration } from './replaced-declaration';
import { VariableRepository, type VariableKey } from './variable.repository';

/** Campaigns whose declarations one process caches; most take some kilobytes. */
const CACHED_CAMPAIGNS_MAX = 1_000;

/** Declares what campaigns may store (contract section 8). */
@Injectable()
export class VariablesService {
  private readonly cache: InvalidatingCache<Declarations>;
  private readonly mutex: KeyedMutex;

  constructor(
    private readonly database: DataSource,
    private readonly variables: VariableRepository,
    private readonly store: DeclarationStore,
    feed: InvalidationFeed,
    private readonly clock: Clock,
    private readonly limits: LimitsCheck,
    private readonly confirmation: LimitsConfirmation,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {
    this.cache = new InvalidatingCache(feed, clock, CACHED_CAMPAIGNS_MAX);
    this.mutex = new KeyedMutex(clock);
  }

  /** The declarations in force: current on the node that took a definition, at most a second old on the others. */
  async declarationsOf(tenantId: string, campaignId: string): Promise<Declarations> {
    const key = keyOf(tenantId, campaignId);
    return (
      this.cache.recall(key) ??
      this.cache.learn(key, async () => ({
        value: await this.declarationsNow(tenantId, campaignId),
        subject: declarationsSubject(tenantId, campaignId),
      }))
    );
  }

  /** The declarations in force, read from the database: also those that another node has just committed. */
  async declarationsNow(tenantId: string, campaignId: string): Promise<Declarations> {
    const version = await this.variables.version(tenantId, campaignId);
    return Declarations.from((await this.variables.active(tenantId, campaignId)).map(declarationOf), version);
  }

  /** The variables in force, in the order of `byScopeAndName`; an unknown campaign has none. */
  async list(tenantId: string, campaignId: string): Promise<readonly Variable[]> {
    return (await this.variables.active(tenantId, campaignId)).sort(byScopeAndName);
  }

  /**
   * Declares a variable, or replaces all but its type; what the definition leaves out is removed.
   *
   * Throws `variable_type_conflict` when the name has another type in this campaign or, in the scope `app`, in the
   * workspace; `variable_rules_conflict` when another campaign declares other limits or another period for a name of
   * the scope `app`; `variable_limit_exceeded` when the scope already has `VARIABLES_PER_SCOPE_MAX` in force
   * (docs/adr/0017); and `limit_reached` when stored values are outside of the limits (docs/adr/0064).
   */
  define(tenantId: string, campaignId: string, definition: VariableDefinition): Promise<Variable> {
    return this.mutex.runExclusive(keyOf(tenantId, campaignId), async () => {
      const { scope, name } = definition;
      const stored = await this.variables.find(this.database.manager, tenantId, { campaignId, scope, name });
      const before = confirmedDeclaration(stored);
      if (before !== null && mayLeaveValuesOutside(before, definition)) {
        await this.limits.assertNoneOutside(tenantId, campaignId, definition);
      }
      const variable = await this.store.commit(tenantId, campaignId, (manager) =>
        this.declare(manager, tenantId, campaignId, definition),
      );
      if (variable.replaced !== null) await this.confirmation.confirm(variable);
      return variable;
    });
  }

  /** Archives a variable, idempotently; its values stay stored. Throws `not_found` when it was never declared. */
  archive(tenantId: string, key: VariableKey): Promise<Variable> {
    const { campaignId } = key;
    const now = this.clock.now();
    return this.change(tenantId, campaignId, async (manager) => {
      await this.variables.lockExistingCampaign(manager, tenantId, campaignId);
      const variable = await this.variables.find(manager, tenantId, key);
      if (variable === null) {
        throw new DomainError('not_found', 'The campaign has never declared a variable with this scope and name.');
      }
      if (variable.archivedAt !== null) return variable;
      variable.updatedAt = variable.archivedAt = now;
      return this.store.put(manager, variable);
    });
  }

  /**
   * Changes of one campaign run one at a time: on this node by the mutex, on all nodes by the lock of the campaign's
   * row.
   */
  private change<T>(tenantId: string, campaignId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive(keyOf(tenantId, campaignId), () => this.store.commit(tenantId, campaignId, work));
  }

  /** The stored declaration; `replaced` is set when stored values may be outside of the limits. */
  private async declare(
    manager: EntityManager,
    tenantId: string,
    campaignId: string,
    definition: VariableDefinition,
  ): Promise<Variable> {
    const { scope, name, type } = definition;
    const now = this.clock.now();
    await this.variables.lockCampaign(manager, tenantId, campaignId, now);
    const stored = await this.variables.find(manager, tenantId, { campaignId, scope, name });
    const effect = effectOf(stored, definition);
    if (stored !== null && effect === 'none' && stored.replaced === null) return stored;
    if (stored !== null && effect === 'conflict') throw typeConflict(definition, stored.type, 'The campaign');
    if (effect === 'add') await this.assertRoom(manager, tenantId, campaignId, definition);
    if (scope === 'app') await this.assertAgreement(manager, tenantId, campaignId, definition);
    // Values of an app may be those of other campaigns; others need a declaration of this campaign.
    const confirmed = scope === 'app' ? null : confirmedDeclaration(stored);
    const mayBeOutside = (scope === 'app' || confirmed !== null) && mayLeaveValuesOutside(confirmed, definition);
    const variable = await this.store.put(manager, {
      tenantId,
      campaignId,
      scope,
      name,
      type,
      defaultValue: definition.default ?? null,
      description: definition.description ?? null,
      min: definition.min ?? null,
      max: definition.max ?? null,
      period: definition.period ?? null,
      createdAt: stored?.createdAt ?? now,
      updatedAt: now,
      archivedAt: null,
      replaced: mayBeOutside ? replacedDeclaration(stored) : null,
    });
    if (mayBeOutside) await this.confirmation.addJob(manager, variable);
    return variable;
  }

  /** Throws `variable_type_conflict`, `variable_rules_conflict`. Locks the name in the workspace. */
  private async assertAgreement(
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

  private async assertRoom(
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

function typeConflict({ scope, name }: VariableDefinition, type: VariableType, whose: string): DomainError {
  const words = `${whose} declared state.${scope}.${name} with the type ${type}. A type never changes, also in the archive, because values of it are stored; declare that type, or choose another name.`;
  return new DomainError('variable_type_conflict', words);
}

function declarationOf({ scope, name, type, defaultValue, min, max, period }: Variable): Declaration {
  return {
    scope,
    name,
    type,
    ...(defaultValue === null ? {} : { default: defaultValue }),
    ...(min === null ? {} : { min }),
    ...(max === null ? {} : { max }),
    ...(period === null ? {} : { period }),
  };
}

function keyOf(tenantId: string, campaignId: string): string {
  return `${tenantId}/${campaignId}`;
}
