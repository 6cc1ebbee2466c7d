import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { scopeMissing } from '../platform/errors/challenges';
import type { Principal } from '../platform/auth/principal';
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
import { VariablesService } from '../variables/variables.service';
import {
  appliesFrom,
  isSameReaction,
  type ReactionDefinition,
  REACTIONS_PER_CAMPAIGN_MAX,
  REACTIONS_PER_EVENT_TYPE_MAX,
  storedOf,
} from './domain/reaction';
import { personalReads, sharedCopiesOf } from './domain/personal-data';
import { parseReactionDefinition } from './domain/reaction-definition';
import { declarationFaults } from './domain/reaction-operations';
import type { ReactionWarning } from './domain/reaction-warnings';
import type { Reaction } from './entities/reaction.entity';
import { ReactionAdvice } from './reaction-advice';
import { ReactionRepository } from './reaction.repository';

export interface DefinedReaction {
  readonly reaction: Reaction;
  /** What of the definition will never do anything, also when it says what is so already. */
  readonly warnings: readonly ReactionWarning[];
}

/** Defines what makes campaigns react to events (contract section 8). */
@Injectable()
export class ReactionsService {
  private readonly mutex: KeyedMutex;

  constructor(
    private readonly database: DataSource,
    private readonly reactions: ReactionRepository,
    private readonly variables: VariablesService,
    private readonly personal: PersonalProperties,
    private readonly advice: ReactionAdvice,
    clock: Clock,
  ) {
    this.mutex = new KeyedMutex(clock);
  }

  /**
   * Defines a reaction, or makes it what the definition says; in force on every node with the answer. Throws
   * `validation_failed` with every fault: of the body, any JSON value; of paths and types that the campaign does not declare; of
   * personal data that are written to shared values; or `limit_exceeded`. Throws `insufficient_scope` where it reads personal
   * data and the caller must not, also when it says what is so already.
   */
  async define(caller: Principal, campaignId: string, body: unknown): Promise<DefinedReaction> {
    const { tenantId } = caller;
    const parsed = parseReactionDefinition(body);
    if ('faults' in parsed) throw validationFailed(parsed.faults);
    const { definition } = parsed;
    const names = await this.personal.namesOf(tenantId, definition.eventType);
    assertMayRead(caller, personalReads(definition, names));
    const faults = [
      ...declarationFaults(
        definition.ops,
        // What was declared a moment ago on another node has to be known.
        await this.variables.declarationsNow(tenantId, campaignId),
      ),
      ...(sharedCopiesOf(definition.ops)?.(names) ?? []),
    ];
    if (faults.length > 0) throw validationFailed(faults);
    const warnings = await this.advice.warningsFor(tenantId, definition);
    const stored = await this.reactions.find(tenantId, campaignId, definition.name);
    // Sent with every deployment: it must not make all nodes read all reactions of the workspace again.
    if (stored !== null && isSameReaction(stored, definition)) return { reaction: stored, warnings };
    const reaction = await this.change(tenantId, (manager) => this.store(manager, tenantId, campaignId, definition));
    return { reaction, warnings };
  }

  /** Newest first; none of a campaign that nobody knows. */
  async list(tenantId: string, campaignId: string, cursor: string | undefined, limit: number): Promise<Page<Reaction>> {
    return this.reactions.list(tenantId, campaignId, idPageStart(cursor), limit);
  }

  /** Throws `not_found`. */
  async get(tenantId: string, campaignId: string, name: string): Promise<Reaction> {
    const reaction = await this.reactions.find(tenantId, campaignId, name);
    if (reaction === null) throw unknownReaction();
    return reaction;
  }

  /** Out of force on every node with the answer, also for events that wait. Throws `not_found`. */
  delete(tenantId: string, campaignId: string, name: string): Promise<Reaction> {
    return this.change(tenantId, async (manager) => {
      const reaction = await this.reactions.find(tenantId, campaignId, name, manager);
      if (reaction === null) throw unknownReaction();
      await this.reactions.delete(manager, reaction);
      return reaction;
    });
  }

  /** Changes of one workspace wait for each other: here for their turn, and for those of other nodes at the workspace's row. */
  private change<T>(tenantId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
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
    wanted: ReactionDefinition,
  ): Promise<Reaction> {
    const { name, eventType } = wanted;
    const stored = await this.reactions.find(tenantId, campaignId, name, manager);
    if (stored !== null && isSameReaction(stored, wanted)) return stored;
    const faults = [
      ...(stored === null ? await this.campaignFaults(manager, tenantId, campaignId) : []),
      ...(stored?.eventType === eventType ? [] : await this.eventTypeFaults(manager, tenantId, eventType)),
    ];
    if (faults.length > 0) throw validationFailed(faults);
    const now = await this.reactions.momentOfDefinition(manager);
    const reaction: Reaction = {
      ...{ tenantId, campaignId, name, id: stored?.id ?? newId() },
      ...storedOf(wanted, stored === null ? now : appliesFrom(stored, wanted, now)),
      ...{ createdAt: stored?.createdAt ?? now, updatedAt: now },
    };
    await this.reactions.put(manager, reaction);
    return reaction;
  }

  private async campaignFaults(manager: EntityManager, tenantId: string, campaignId: string): Promise<Fault[]> {
    if ((await this.reactions.countOfCampaign(manager, tenantId, campaignId)) < REACTIONS_PER_CAMPAIGN_MAX) return [];
    const message = `The campaign has ${REACTIONS_PER_CAMPAIGN_MAX} reactions already, the most it may have; delete one that is no longer used.`;
    return [{ path: 'name', code: 'limit_exceeded', message }];
  }

  private async eventTypeFaults(manager: EntityManager, tenantId: string, eventType: string): Promise<Fault[]> {
    const count = await this.reactions.countOfEventType(manager, tenantId, eventType);
    if (count < REACTIONS_PER_EVENT_TYPE_MAX) return [];
    const message = `The workspace has ${REACTIONS_PER_EVENT_TYPE_MAX} reactions to this eventType already, the most it may have; delete one that is no longer used.`;
    return [{ path: 'eventType', code: 'limit_exceeded', message }];
  }
}

/** `places`: where a reaction reads personal data. */
function assertMayRead(caller: Principal, places: readonly string[]): void {
  if (places.length === 0 || grants(caller.scopes, 'pii:read')) return;
  const message =
    'A reaction that reads identity or personal properties of events needs the scope pii:read, which the credential lacks; define it with one that has it, or read something else.';
  const details = places.map((path) => ({
    ...{ path, code: 'personal_data' as const },
    message: `${path} reads personal data, which takes the scope pii:read.`,
  }));
  throw scopeMissing('pii:read', message, details);
}

function unknownReaction(): DomainError {
  return new DomainError('not_found', 'The campaign has no reaction with this name.');
}
