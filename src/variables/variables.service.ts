import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { InvalidationFeed } from '../platform/invalidation/invalidation-feed';
import { InvalidatingCache } from '../platform/invalidation/invalidating-cache';
import { DomainError } from '../platform/errors/domain-error';
import { KeyedMutex } from '../platform/async/keyed-mutex';
import type { TransactionPrecondition } from '../platform/postgres/transaction-precondition';
import { DeclarationRules, typeConflict } from './declaration-rules';
import { DeclarationStore, declarationsSubject } from './declaration-store';
import { byScopeAndName, Declarations } from './domain/declarations';
import { effectOf, mayLeaveValuesOutside, type VariableDefinition } from './domain/define-variable';
import type { Declaration } from './domain/variable';
import type { Variable } from './entities/variable.entity';
import { LimitsCheck } from './limits-check';
import { LimitsConfirmation } from './limits-confirmation';
import { confirmedDeclaration, replacedDeclaration } from './replaced-declaration';
import { VariableRepository, type VariableKey } from './variable.repository';

/** Campaigns whose declarations one process caches; most take some kilobytes. */
const CACHED_CAMPAIGNS_MAX = 1_000;

/** A definition of `changeAll`. */
export interface CampaignVariable {
  readonly campaignId: string;
  readonly definition: VariableDefinition;
}

/** What `changeAll` does. */
export interface VariableChanges {
  readonly defined: readonly CampaignVariable[];
  readonly archived: readonly VariableKey[];
}

/** Declares what campaigns may store (contract section 8). */
@Injectable()
export class VariablesService {
  private readonly cache: InvalidatingCache<Declarations>;
  private readonly mutex = new KeyedMutex();

  constructor(
    private readonly database: DataSource,
    private readonly variables: VariableRepository,
    private readonly store: DeclarationStore,
    feed: InvalidationFeed,
    private readonly clock: Clock,
    private readonly limits: LimitsCheck,
    private readonly confirmation: LimitsConfirmation,
    private readonly rules: DeclarationRules,
  ) {
    this.cache = new InvalidatingCache(feed, clock, CACHED_CAMPAIGNS_MAX);
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
   * the scope `app`; `variable_limit_exceeded` when the scope already has `VARIABLES_PER_SCOPE_MAX` in force,
   * or ten times as many names (docs/adr/0017); and `limit_reached` when stored values are outside of the limits (docs/adr/0064).
   */
  define(tenantId: string, campaignId: string, definition: VariableDefinition): Promise<Variable> {
    return this.mutex.runExclusive(keyOf(tenantId, campaignId), async () => {
      await this.assertNoneOutside(tenantId, campaignId, definition);
      const variable = await this.store.commit(tenantId, [campaignId], async (manager) => {
        await this.variables.lockCampaign(manager, tenantId, campaignId, this.clock.now());
        return this.declare(manager, tenantId, campaignId, definition);
      });
      if (variable.replaced !== null) await this.confirmation.confirm(variable);
      return variable;
    });
  }

  /** Archives a variable, idempotently; its values stay stored. Throws `not_found` when it was never declared. */
  archive(tenantId: string, key: VariableKey): Promise<Variable> {
    const { campaignId } = key;
    // Changes of one campaign run one at a time: on this node by the mutex, on all nodes by the lock of the campaign's row.
    return this.mutex.runExclusive(keyOf(tenantId, campaignId), () =>
      this.store.commit(tenantId, [campaignId], async (manager) => {
        await this.variables.lockExistingCampaign(manager, tenantId, campaignId);
        return this.archiveLocked(manager, tenantId, key);
      }),
    );
  }

  /**
   * `define` and `archive` for several variables in one transaction: all of them, or none. Throws what these throw and
   * what `precondition` throws. Limits are confirmed after the commit: one that turns out to exclude a value is taken
   * back alone, and refused (docs/adr/0076).
   */
  async changeAll(
    tenantId: string,
    { defined, archived }: VariableChanges,
    precondition: TransactionPrecondition,
  ): Promise<void> {
    for (const { campaignId, definition } of defined) await this.assertNoneOutside(tenantId, campaignId, definition);
    const campaignIds = [...new Set([...defined, ...archived].map(({ campaignId }) => campaignId))].sort();
    const variables = await this.store.commit(tenantId, campaignIds, async (manager) => {
      for (const id of campaignIds) await this.variables.lockCampaign(manager, tenantId, id, this.clock.now());
      await precondition(manager);
      for (const key of archived) await this.archiveLocked(manager, tenantId, key);
      const stored: Variable[] = [];
      for (const { campaignId, definition } of defined.toSorted(byName)) {
        stored.push(await this.declare(manager, tenantId, campaignId, definition, { agrees: 'later' }));
      }
      // After all of them, so that campaigns can change together what they must agree on; in the order of the locks.
      for (const { campaignId, definition } of defined.toSorted(byName)) {
        if (definition.scope === 'app') await this.rules.assertAgreement(manager, tenantId, campaignId, definition);
      }
      return stored;
    });
    const refused: unknown[] = [];
    for (const each of variables.filter(({ replaced }) => replaced !== null)) {
      await this.confirmation.confirm(each).catch((error: unknown) => refused.push(error));
    }
    if (refused.length > 0) throw refused[0];
  }

  /** At most `limit` variables in force after `key`, in the order of campaign, scope and name. */
  after(tenantId: string, key: VariableKey, limit: number, manager = this.database.manager): Promise<Variable[]> {
    return this.variables.after(manager, tenantId, key, limit);
  }

  /** Throws `limit_reached` when stored values are outside of narrower limits. */
  private async assertNoneOutside(tenantId: string, campaignId: string, definition: VariableDefinition): Promise<void> {
    const { scope, name } = definition;
    const stored = await this.variables.find(this.database.manager, tenantId, { campaignId, scope, name });
    const before = confirmedDeclaration(stored);
    if (before === null || !mayLeaveValuesOutside(before, definition)) return;
    await this.limits.assertNoneOutside(tenantId, campaignId, definition);
  }

  /** The campaign must be locked. */
  private async archiveLocked(manager: EntityManager, tenantId: string, key: VariableKey): Promise<Variable> {
    const variable = await this.variables.find(manager, tenantId, key);
    if (variable === null) {
      throw new DomainError('not_found', 'The campaign has never declared a variable with this scope and name.');
    }
    if (variable.archivedAt !== null) return variable;
    variable.updatedAt = variable.archivedAt = this.clock.now();
    return this.store.put(manager, variable);
  }

  /**
   * The stored declaration; `replaced` is set when stored values may be outside of the limits. The campaign must be
   * locked. `agrees`: when it is checked that campaigns agree on it.
   */
  private async declare(
    manager: EntityManager,
    tenantId: string,
    campaignId: string,
    definition: VariableDefinition,
    { agrees }: { readonly agrees: 'now' | 'later' } = { agrees: 'now' },
  ): Promise<Variable> {
    const { scope, name, type } = definition;
    const now = this.clock.now();
    const stored = await this.variables.find(manager, tenantId, { campaignId, scope, name });
    const effect = effectOf(stored, definition);
    if (stored !== null && effect === 'none' && stored.replaced === null) return stored;
    if (stored !== null && effect === 'conflict') throw typeConflict(definition, stored.type, 'The campaign');
    if (effect === 'add') {
      await this.rules.assertBelowLimit(manager, tenantId, { campaignId, scope, isNewName: stored === null });
    }
    if (scope === 'app' && agrees === 'now') {
      await this.rules.assertAgreement(manager, tenantId, campaignId, definition);
    }
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

function byName({ definition: a }: CampaignVariable, { definition: b }: CampaignVariable): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

function keyOf(tenantId: string, campaignId: string): string {
  return `${tenantId}/${campaignId}`;
}
