import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Participant } from '../platform/auth/principal';
import type { Fault } from '../platform/errors/fault';
import { idPageStart } from '../platform/pagination/id-key';
import { VariablesService } from '../variables/variables.service';
import { applyOperations } from './domain/apply-operations';
import { checkTypes, resolvePaths } from './domain/check-operations';
import type { MutationEntry } from './domain/mutation-work';
import type { Operation } from './domain/operation';
import { findStateOwner, ownerOf, type NamedField, type StateOwner } from './domain/state-owner';
import {
  readBranch,
  stateTree,
  type StateBranch,
  type StateTree,
  type StoredValues,
  type SystemFields,
} from './domain/state-tree';
import { ParticipantReader } from './participant-reader';
import { LOCK_STATES_OF_PERSON } from './state-of-person';
import { StateReader } from './state-reader';

/** A participant in a list: the values of scope `user`, and the system fields. */
export interface ListedParticipant {
  readonly subject: string;
  readonly user: StateBranch;
  readonly system: SystemFields;
}

export interface ListedPage {
  readonly participants: readonly ListedParticipant[];
  /** Null at the end. */
  readonly nextCursor: string | null;
}

/** Why operations would change nothing. `isLimitReached`: a value would leave its limits. */
export interface RefusedPreview {
  readonly faults: readonly Fault[];
  readonly isLimitReached?: true;
}

/** Reads the state of campaigns (contract section 8). */
@Injectable()
export class StateService {
  constructor(
    private readonly variables: VariablesService,
    private readonly reader: StateReader,
    private readonly participants: ParticipantReader,
  ) {}

  /**
   * The state that a participant sees; `campaigns`: those that the request names. Throws `context_violation`,
   * `campaign_required`.
   */
  async read(participant: Participant, campaigns: readonly NamedField[]): Promise<StateTree> {
    const owner = ownerOf(findStateOwner(participant, { campaigns, apps: [], users: [] }));
    return (await this.readFor(participant.tenantId, owner)).state;
  }

  /** The state of any participant with the system fields, for backends and operators. */
  async readFor(
    tenantId: string,
    owner: StateOwner,
  ): Promise<{ readonly state: StateTree; readonly system: SystemFields }> {
    const declarations = await this.variables.declarationsOf(tenantId, owner.campaignId);
    const { values, system, at } = await this.reader.read(tenantId, owner, declarations);
    return { state: stateTree(declarations, values, at), system };
  }

  /**
   * What operations would change now. Faults, or a refusal of their paths: they would be refused. Changes nothing.
   */
  async previewOperations(
    tenantId: string,
    owner: StateOwner,
    operations: readonly Operation[],
  ): Promise<{ readonly mutations: readonly MutationEntry[] } | RefusedPreview> {
    const declarations = await this.variables.declarationsOf(tenantId, owner.campaignId);
    const { values, at } = await this.reader.read(tenantId, owner, declarations);
    const paths = resolvePaths(operations, declarations);
    if ('refusal' in paths) return { faults: paths.refusal.details };
    const faults = checkTypes(paths.operations);
    if (faults.length > 0) return { faults };
    const applied = applyOperations(paths.operations, values, at);
    if (!('refused' in applied)) return applied;
    const { code, faults: found } = applied.refused;
    return code === 'limit_reached' ? { faults: found, isLimitReached: true } : { faults: found };
  }

  /** No mutation of values that the participant has is under way, nor begins, until the caller's transaction ends. */
  async holdParticipant(manager: EntityManager, tenantId: string, subject: string): Promise<void> {
    await manager.query(LOCK_STATES_OF_PERSON, [tenantId, subject]);
  }

  /**
   * One page of the participants of a campaign who have `user` values, the newest first. Throws `validation_failed` for
   * a malformed cursor.
   */
  async list(tenantId: string, campaignId: string, cursor: string | undefined, limit: number): Promise<ListedPage> {
    const before = idPageStart(cursor);
    const declarations = await this.variables.declarationsOf(tenantId, campaignId);
    const branchOf = (values: StoredValues, at: number): StateBranch => readBranch(declarations, 'user', values, at);
    const defaultsBytes = Buffer.byteLength(JSON.stringify(branchOf(new Map(), 0)));
    const page = await this.participants.list(tenantId, campaignId, before, { limit, defaultsBytes });
    const participants = page.participants.map(({ subject, values, system }) => {
      return { subject, user: branchOf(values, page.at), system };
    });
    return { participants, nextCursor: page.nextCursor };
  }
}
