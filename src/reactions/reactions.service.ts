import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { scopeMissing } from '../platform/errors/challenges';
import type { Principal } from '../platform/auth/principal';
import { assertFreshProof } from '../platform/auth/fresh-proof';
import { grants } from '../platform/auth/scopes';
import { Clock } from '../platform/values/clock';
import { DomainError } from '../platform/errors/domain-error';
import type { Fault } from '../platform/errors/fault';
import { validationFailed } from '../platform/errors/validation-failed';
import { newId } from '../platform/values/ids';
import { KeyedMutex } from '../platform/async/keyed-mutex';
import { PersonalProperties } from '../platform/privacy/personal-properties';
import { idPageStart } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { nextMillisecond } from '../platform/postgres/next-millisecond';
import { EventTypeCatalog } from '../ingest/event-type-catalog';
import { EventSample } from '../ingest/log/event-sample';
import type { TransactionPrecondition } from '../platform/postgres/transaction-precondition';
import type { Declarations } from '../variables/domain/declarations';
import { ReactionCounter } from '../variables/reaction-counter';
import { VariablesService } from '../variables/variables.service';
import {
  appliesFrom,
  isSameReaction,
  type ReactionDefinition,
  type ReactionName,
  REACTIONS_PER_CAMPAIGN_MAX,
  REACTIONS_PER_EVENT_TYPE_MAX,
  storedOf,
} from './domain/reaction';
import { personalReads, sharedCopiesOf } from './domain/personal-data';
import { parseReactionDefinition } from './domain/reaction-definition';
import { declarationFaults } from './domain/reaction-operations';
import { reactionWarnings, type EventTypeFacts, type ReactionWarning } from './domain/reaction-warnings';
import type { Reaction } from './entities/reaction.entity';
import { ReactionRepository } from './reaction.repository';

export interface DefinedReaction {
  readonly reaction: Reaction;
  /** The parts of the definition that can never have an effect, also for a definition that changes nothing. */
  readonly warnings: readonly ReactionWarning[];
}

/** What will be in force together with a definition that is checked before it is. */
export interface FutureContext {
  /** The variables of the campaign. */
  readonly declared: Declarations;
  /** Personal properties of its event type, besides those that are registered. */
  readonly personal: readonly string[];
}

/** What `changeAll` does. */
export interface ReactionChanges {
  /** Bodies of `reactions:define`, any JSON value. */
  readonly defined: readonly { readonly campaignId: string; readonly body: unknown }[];
  readonly disabled: readonly ReactionName[];
}

/** Defines how campaigns react to events (contract section 8). */
@Injectable()
export class ReactionsService implements OnModuleInit {
  private readonly mutex = new KeyedMutex();

  constructor(
    private readonly database: DataSource,
    private readonly reactions: ReactionRepository,
    private readonly variables: VariablesService,
    private readonly personal: PersonalProperties,
    private readonly catalog: EventTypeCatalog,
    private readonly sample: EventSample,
    private readonly clock: Clock,
    private readonly counter: ReactionCounter,
  ) {}

  onModuleInit(): void {
    this.counter.register((tenantId, campaignIds) => this.reactions.countsOfCampaigns(tenantId, campaignIds));
  }

  /**
   * Defines or repaths a reaction; in force on every node when this resolves. Throws `validation_failed` with every
   * fault: of the body, any JSON value; of paths and types that the campaign does not declare; of personal data that
   * would be written to shared values; or `limit_exceeded`. Throws `insufficient_scope` if it reads personal data and
   * the caller may not.
   */
  async define(caller: Principal, campaignId: string, body: unknown): Promise<DefinedReaction> {
    const { tenantId } = caller;
    const definition = await this.check(caller, campaignId, body);
    const warnings = reactionWarnings(definition, await this.factsOf(tenantId, definition.eventType));
    const stored = await this.reactions.find(tenantId, campaignId, definition.name);
    // Clients repeat definitions with every deployment; that must not invalidate the caches of all nodes.
    if (stored !== null && isSameReaction(stored, definition)) return { reaction: stored, warnings };
    const reaction = await this.change(tenantId, (manager) => this.store(manager, tenantId, campaignId, definition));
    return { reaction, warnings };
  }

  /**
   * Defines and disables several reactions in one transaction: all of them, or none. Throws what `define` throws for any
   * of them, and what `precondition` throws. What is disabled is not checked again.
   */
  async changeAll(
    caller: Principal,
    { defined, disabled }: ReactionChanges,
    precondition: TransactionPrecondition,
  ): Promise<void> {
    const { tenantId } = caller;
    const definitions: { campaignId: string; definition: ReactionDefinition }[] = [];
    for (const { campaignId, body } of defined) {
      definitions.push({ campaignId, definition: await this.check(caller, campaignId, body) });
    }
    await this.change(tenantId, async (manager) => {
      await precondition(manager);
      for (const { campaignId, definition } of definitions) {
        await this.store(manager, tenantId, campaignId, definition);
      }
      for (const { campaignId, name } of disabled) {
        const stored = await this.reactions.find(tenantId, campaignId, name, manager);
        if (stored === null) throw unknownReaction();
        if (stored.enabled) await this.reactions.disable(manager, stored, await nextMillisecond(manager));
      }
    });
  }

  /** At most `limit` reactions after a name, in the order of campaign and name. */
  after(tenantId: string, name: ReactionName, limit: number, manager?: EntityManager): Promise<Reaction[]> {
    return this.reactions.after(manager, tenantId, name, limit);
  }

  /**
   * The definition in a body, any JSON value. Throws as `define` does, `limit_exceeded` apart. `at`: where it stands in
   * the body of the request. `future` is absent: what is in force now.
   */
  async check(
    caller: Principal,
    campaignId: string,
    body: unknown,
    at = '',
    future?: FutureContext,
  ): Promise<ReactionDefinition> {
    const { tenantId } = caller;
    const parsed = parseReactionDefinition(body);
    if ('faults' in parsed) throw validationFailed(faultsBelow(at, parsed.faults));
    const { definition } = parsed;
    const registered = await this.personal.namesOf(tenantId, definition.eventType);
    const names = new Set([...registered, ...(future?.personal ?? [])]);
    this.assertMayRead(
      caller,
      personalReads(definition, names).map((path) => pathBelow(at, path)),
    );
    const faults = [
      ...declarationFaults(
        definition.ops,
        // Not cached: a variable that another node has just declared must be found.
        future?.declared ?? (await this.variables.declarationsNow(tenantId, campaignId)),
      ),
      ...(sharedCopiesOf(definition.ops)?.(names) ?? []),
    ];
    if (faults.length > 0) throw validationFailed(faultsBelow(at, faults));
    return definition;
  }

  /** Throws `insufficient_scope` if a stored reaction reads personal data and the caller may not: a test shows what it reads. */
  async assertMayTest(caller: Principal, reaction: Reaction): Promise<void> {
    this.assertMayRead(caller, await this.personalReadsOf(reaction));
  }

  /** Whether a stored reaction reads personal data. */
  async readsPersonal(reaction: Reaction): Promise<boolean> {
    return (await this.personalReadsOf(reaction)).length > 0;
  }

  private async personalReadsOf({ tenantId, eventType, condition, operations }: Reaction): Promise<readonly string[]> {
    const names = await this.personal.namesOf(tenantId, eventType);
    return personalReads({ when: condition ?? undefined, ops: operations }, names);
  }

  /** Newest first; an unknown campaign has none. */
  async list(tenantId: string, campaignId: string, cursor: string | undefined, limit: number): Promise<Page<Reaction>> {
    return this.reactions.list(tenantId, campaignId, idPageStart(cursor), limit);
  }

  find(tenantId: string, campaignId: string, name: string): Promise<Reaction | null> {
    return this.reactions.find(tenantId, campaignId, name);
  }

  /** Throws `not_found`. */
  async get(tenantId: string, campaignId: string, name: string): Promise<Reaction> {
    const reaction = await this.find(tenantId, campaignId, name);
    if (reaction === null) throw unknownReaction();
    return reaction;
  }

  /**
   * Out of force on every node when this resolves, also for events that wait; not for those of a transaction that has read the
   * reactions before, and ends within seconds. Throws `not_found`.
   */
  delete(tenantId: string, campaignId: string, name: string): Promise<Reaction> {
    return this.changeOne(tenantId, campaignId, name, async (manager, reaction) => {
      await this.reactions.delete(manager, reaction);
      return reaction;
    });
  }

  /** `change` for one reaction. Throws `not_found`. */
  changeOne<T>(
    tenantId: string,
    campaignId: string,
    name: string,
    work: (manager: EntityManager, reaction: Reaction) => Promise<T>,
  ): Promise<T> {
    return this.change(tenantId, async (manager) => {
      const reaction = await this.reactions.find(tenantId, campaignId, name, manager);
      if (reaction === null) throw unknownReaction();
      return work(manager, reaction);
    });
  }

  /** What `reactionWarnings` needs to know; the number of rows that are read is limited. */
  private async factsOf(tenantId: string, eventType: string): Promise<EventTypeFacts> {
    const registered = await this.catalog.find(tenantId, eventType);
    if (registered !== undefined) return { registered };
    const wasReceived = await this.sample.hasAny(tenantId, eventType);
    return { registered, wasReceived, names: wasReceived ? [] : await this.catalog.names(tenantId) };
  }

  /**
   * Changes of one workspace run one at a time: on this node by the mutex, on all nodes by the lock of the workspace's
   * row. Workers see the change with their next transaction.
   */
  change<T>(tenantId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive(tenantId, () =>
      this.database.transaction(async (manager) => {
        await this.reactions.lockSet(manager, tenantId);
        return work(manager);
      }),
    );
  }

  private async store(
    manager: EntityManager,
    tenantId: string,
    campaignId: string,
    definition: ReactionDefinition,
  ): Promise<Reaction> {
    const { name, eventType } = definition;
    const stored = await this.reactions.find(tenantId, campaignId, name, manager);
    if (stored !== null && isSameReaction(stored, definition)) return stored;
    const faults = [
      ...(stored === null ? await this.campaignFaults(manager, tenantId, campaignId) : []),
      ...(stored?.eventType === eventType ? [] : await this.eventTypeFaults(manager, tenantId, eventType)),
    ];
    if (faults.length > 0) throw validationFailed(faults);
    const now = await nextMillisecond(manager);
    const reaction: Reaction = {
      tenantId,
      campaignId,
      name,
      id: stored?.id ?? newId(),
      ...storedOf(definition, stored === null ? now : appliesFrom(stored, definition, now)),
      // A backfill ends when its reaction changes.
      backfillId: null,
      createdAt: stored?.createdAt ?? now,
      updatedAt: now,
    };
    await this.reactions.put(manager, reaction);
    return reaction;
  }

  private async campaignFaults(manager: EntityManager, tenantId: string, campaignId: string): Promise<Fault[]> {
    if ((await this.reactions.countOfCampaign(manager, tenantId, campaignId)) < REACTIONS_PER_CAMPAIGN_MAX) return [];
    const message = `The campaign already has ${REACTIONS_PER_CAMPAIGN_MAX} reactions, which is the limit; delete one that is no longer used.`;
    return [{ path: 'name', code: 'limit_exceeded', message }];
  }

  /** `paths`: the fields of the definition that read personal data. */
  private assertMayRead(caller: Principal, paths: readonly string[]): void {
    if (paths.length === 0) return;
    assertHasScope(caller, paths);
    assertFreshProof(caller, this.clock.now());
  }

  private async eventTypeFaults(manager: EntityManager, tenantId: string, eventType: string): Promise<Fault[]> {
    const count = await this.reactions.countOfEventType(manager, tenantId, eventType);
    if (count < REACTIONS_PER_EVENT_TYPE_MAX) return [];
    const message = `The workspace already has ${REACTIONS_PER_EVENT_TYPE_MAX} reactions to this eventType, which is the limit; delete one that is no longer used.`;
    return [{ path: 'eventType', code: 'limit_exceeded', message }];
  }
}

/** `paths`: the fields of the definition that read personal data. */
function assertHasScope(caller: Principal, paths: readonly string[]): void {
  if (grants(caller.scopes, 'pii:read')) return;
  const message =
    'A reaction that reads identity or personal properties of events requires the scope pii:read, which the credential lacks. Use a credential that has it, or do not read personal data.';
  const details = paths.map((path) => ({
    path,
    code: 'personal_data' as const,
    message: `${path} reads personal data, which requires the scope pii:read.`,
  }));
  throw scopeMissing('pii:read', message, details);
}

function pathBelow(at: string, path: string): string {
  return at === '' || path === '' ? at + path : `${at}.${path}`;
}

function faultsBelow(at: string, faults: readonly Fault[]): readonly Fault[] {
  if (at === '') return faults;
  return faults.map((fault) => {
    const path = pathBelow(at, fault.path);
    // Messages begin with the path.
    const message =
      fault.path !== '' && fault.message.startsWith(fault.path) ? `${at}.${fault.message}` : fault.message;
    return { ...fault, path, message };
  });
}

function unknownReaction(): DomainError {
  return new DomainError('not_found', 'The campaign has no reaction with this name.');
}
