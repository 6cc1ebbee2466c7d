import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import { InvalidatingCache } from '../platform/invalidation/invalidating-cache';
import { DomainError } from '../platform/errors/domain-error';
import { KeyedMutex } from '../platform/async/keyed-mutex';
import { byScopeAndName, Declarations } from './domain/declarations';
import { effectOf, type VariableDefinition } from './domain/define-variable';
import type { Declaration, VariableType } from './domain/variable';
import type { Variable } from './entities/variable.entity';
import { VariableRepository, type VariableKey } from './variable.repository';

/** Campaigns whose declarations one node remembers; most take some kilobytes. */
const CAMPAIGNS_REMEMBERED_MAX = 1_000;

/** Declares what campaigns may store (contract section 8). */
@Injectable()
export class VariablesService {
  private readonly remembered: InvalidatingCache<Declarations>;
  private readonly mutex: KeyedMutex;

  constructor(
    private readonly database: DataSource,
    private readonly variables: VariableRepository,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {
    this.remembered = new InvalidatingCache(feed, clock, CAMPAIGNS_REMEMBERED_MAX);
    this.mutex = new KeyedMutex(clock);
  }

  /** The declarations in force: at once on the node that took a definition, within a second on every other one. */
  async declarationsOf(tenantId: string, campaignId: string): Promise<Declarations> {
    const key = keyOf(tenantId, campaignId);
    return (
      this.remembered.recall(key) ??
      this.remembered.learn(key, async () => ({
        value: await this.declarationsNow(tenantId, campaignId),
        subject: subjectOf(tenantId, campaignId),
      }))
    );
  }

  /** The declarations in force at this moment, asked of the database: also those of the last second on another node. */
  async declarationsNow(tenantId: string, campaignId: string): Promise<Declarations> {
    return Declarations.from((await this.variables.active(tenantId, campaignId)).map(declarationOf));
  }

  /** The variables in force, in the order of `byScopeAndName`; none of a campaign that nobody knows. */
  async list(tenantId: string, campaignId: string): Promise<readonly Variable[]> {
    return (await this.variables.active(tenantId, campaignId)).sort(byScopeAndName);
  }

  /**
   * Declares a variable, or changes its default and description to what the definition says; what it does not say is removed.
   *
   * Throws `variable_type_conflict` when the name has another type in this campaign or, in the scope `app`, in the workspace,
   * and `variable_limit_exceeded` when the scope has `VARIABLES_PER_SCOPE_MAX` in force already (docs/adr/0017).
   */
  define(tenantId: string, campaignId: string, wanted: VariableDefinition): Promise<Variable> {
    return this.change(tenantId, campaignId, (manager) => this.store(manager, tenantId, campaignId, wanted));
  }

  /** Takes a variable out of force, idempotently; its values are kept. Throws `not_found` when it was never declared. */
  archive(tenantId: string, key: VariableKey): Promise<Variable> {
    const { campaignId } = key;
    const now = this.clock.now();
    return this.change(tenantId, campaignId, async (manager) => {
      await this.variables.lockKnownCampaign(manager, tenantId, campaignId);
      const variable = await this.variables.find(manager, tenantId, key);
      if (variable === null) {
        throw new DomainError('not_found', 'The campaign has never declared a variable with this scope and name.');
      }
      if (variable.archivedAt !== null) return variable;
      variable.updatedAt = variable.archivedAt = now;
      return this.put(manager, variable);
    });
  }

  /** Changes of one campaign wait for each other: here for their turn, and for those of other nodes at the campaign's row. */
  private change<T>(tenantId: string, campaignId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive(keyOf(tenantId, campaignId), async () => {
      const answer = await this.database.transaction(work);
      this.feed.forget(subjectOf(tenantId, campaignId));
      return answer;
    });
  }

  private async store(
    manager: EntityManager,
    tenantId: string,
    campaignId: string,
    wanted: VariableDefinition,
  ): Promise<Variable> {
    const { scope, name, type } = wanted;
    const now = this.clock.now();
    await this.variables.lockCampaign(manager, tenantId, campaignId, now);
    const stored = await this.variables.find(manager, tenantId, { campaignId, scope, name });
    const effect = effectOf(stored, wanted);
    if (stored !== null && effect === 'none') return stored;
    if (stored !== null && effect === 'conflict') throw typeConflict(wanted, stored.type, 'The campaign');
    if (effect === 'add') await this.assertRoom(manager, tenantId, campaignId, wanted);
    if (stored === null && scope === 'app') {
      const agreed = await this.variables.agreedAppType(manager, tenantId, name, type);
      if (agreed !== type) throw typeConflict(wanted, agreed, 'Another campaign');
    }
    return this.put(manager, {
      ...{ tenantId, campaignId, scope, name, type },
      defaultValue: wanted.default ?? null,
      description: wanted.description ?? null,
      ...{ createdAt: stored?.createdAt ?? now, updatedAt: now, archivedAt: null },
    });
  }

  private async assertRoom(
    manager: EntityManager,
    tenantId: string,
    campaignId: string,
    { scope }: VariableDefinition,
  ): Promise<void> {
    const max = this.settings.variablesPerScopeMax;
    if ((await this.variables.countActive(manager, tenantId, { campaignId, scope })) < max) return;
    const words = `The campaign has ${max} variables in the scope ${scope} already, the most it may have; archive one that is no longer used.`;
    throw new DomainError('variable_limit_exceeded', words);
  }

  private async put(manager: EntityManager, variable: Variable): Promise<Variable> {
    await this.variables.put(manager, variable);
    await this.feed.announce(manager, subjectOf(variable.tenantId, variable.campaignId));
    return variable;
  }
}

function typeConflict({ scope, name }: VariableDefinition, type: VariableType, whose: string): DomainError {
  const words = `${whose} has declared state.${scope}.${name} with the type ${type}. A type stays, also in the archive, because of the values that are stored; declare that type, or choose another name.`;
  return new DomainError('variable_type_conflict', words);
}

function declarationOf({ scope, name, type, defaultValue }: Variable): Declaration {
  return { scope, name, type, ...(defaultValue === null ? {} : { default: defaultValue }) };
}

function keyOf(tenantId: string, campaignId: string): string {
  return `${tenantId}/${campaignId}`;
}

function subjectOf(tenantId: string, campaignId: string): InvalidationSubject {
  return { tenantId, kind: 'campaign', id: campaignId };
}
