import { Injectable } from '@nestjs/common';
import type { Participant } from '../platform/auth/principal';
import { unavailable } from '../platform/errors/unavailable';
import { DomainError } from '../platform/errors/domain-error';
import { newMark } from '../platform/values/ids';
import { idPageStart } from '../platform/pagination/id-key';
import { VariablesService } from '../variables/variables.service';
import type { MutationRequest } from './domain/mutation-request';
import type { MutationEntry, MutationStatus } from './domain/mutation-result';
import { mutationKey, type MutationWorkOutcome, type MutationWork } from './domain/mutation-work';
import { fingerprintOf } from './domain/operations-fingerprint';
import {
  findAddressedOwner,
  findStateOwner,
  type NamedOwner,
  type StateAddress,
  type StateOwner,
} from './domain/state-owner';
import {
  readBranch,
  stateTree,
  type StateBranch,
  type StateTree,
  type StoredValues,
  type SystemFields,
} from './domain/state-tree';
import { MutationGroupCommit } from './mutation-group-commit';
import { ParticipantReader } from './participant-reader';
import { StateReader } from './state-reader';

export interface SettledMutation {
  readonly status: MutationStatus;
  readonly mutations: readonly MutationEntry[];
  /** The id was used for other operations before; those were not applied now. */
  readonly otherOperations: boolean;
}

/** A participant in a list: the values of scope `user`, and what the system keeps. */
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

/** Reads and changes the state of campaigns for participants (contract section 8). */
@Injectable()
export class RuntimeService {
  constructor(
    private readonly variables: VariablesService,
    private readonly lane: MutationGroupCommit,
    private readonly reader: StateReader,
    private readonly participants: ParticipantReader,
  ) {}

  /** What the participant sees. Throws `context_violation`, `campaign_required`. */
  async read(participant: Participant, named: NamedOwner): Promise<StateTree> {
    const { tenantId } = participant;
    return (await this.readFor(tenantId, ownerIn(findStateOwner(participant, named)))).state;
  }

  /** The state of any participant, for backends and operators, with what the system keeps. */
  async readFor(
    tenantId: string,
    owner: StateOwner,
  ): Promise<{ readonly state: StateTree; readonly system: SystemFields }> {
    const [declarations, { values, system }] = await Promise.all([
      this.variables.declarationsOf(tenantId, owner.campaignId),
      this.reader.read(tenantId, owner),
    ]);
    return { state: stateTree(declarations, values), system };
  }

  /**
   * One page of the participants of a campaign who have values of their own, the newest first; what they share with others is in no
   * item. Throws `validation_failed` for text that is no cursor.
   */
  async list(tenantId: string, campaignId: string, cursor: string | undefined, limit: number): Promise<ListedPage> {
    const before = idPageStart(cursor);
    const declarations = await this.variables.declarationsOf(tenantId, campaignId);
    const branchOf = (values: StoredValues): StateBranch => readBranch(declarations, 'user', values);
    const defaultsBytes = Buffer.byteLength(JSON.stringify(branchOf(new Map())));
    const page = await this.participants.list(tenantId, campaignId, before, { limit, defaultsBytes });
    const participants = page.participants.map(({ subject, values, system }) => ({
      ...{ subject, user: branchOf(values), system },
    }));
    return { participants, nextCursor: page.nextCursor };
  }

  /**
   * Applies all operations or none; resolves after the commit. Throws `context_violation`, `campaign_required`,
   * `system_field`, `undeclared_variable`, `validation_failed`, `unavailable`.
   */
  async mutate(participant: Participant, request: MutationRequest): Promise<SettledMutation> {
    const { tenantId, sessionId } = participant;
    return this.apply(tenantId, ownerIn(findStateOwner(participant, request.named)), sessionId, request);
  }

  /** The same for any participant, by a backend or an operator; the session of the participant stays what it was. */
  async mutateFor(tenantId: string, address: StateAddress, request: MutationRequest): Promise<SettledMutation> {
    return this.apply(tenantId, ownerIn(findAddressedOwner(address, request.named)), null, request);
  }

  private async apply(
    tenantId: string,
    owner: StateOwner,
    sessionId: string | null,
    { operations, mutationId }: MutationRequest,
  ): Promise<SettledMutation> {
    const workId = newMark();
    const work: MutationWork = {
      workId,
      tenantId,
      owner,
      operations,
      sessionId,
      declarations: await this.variables.declarationsOf(tenantId, owner.campaignId),
      // Without an id of the client's a commit of unknown outcome could not be told from one that did not happen.
      mutationKey: mutationId === undefined ? mutationKey('request', workId) : mutationKey('client', mutationId),
      fingerprint: fingerprintOf(operations),
    };
    return settled(await this.lane.apply({ work, bytes: weightOf(work) }));
  }
}

function settled(outcome: MutationWorkOutcome): SettledMutation {
  switch (outcome.status) {
    case 'applied':
      return { status: 'applied', mutations: outcome.mutations, otherOperations: false };
    case 'duplicate':
      return { status: 'duplicate', mutations: outcome.mutations, otherOperations: !outcome.sameOperations };
    case 'refused': {
      const { code, message, extras } = outcome.refusal;
      throw new DomainError(code, message, extras);
    }
    case 'unavailable':
      throw unavailable();
  }
}

function ownerIn(found: ReturnType<typeof findStateOwner>): StateOwner {
  if ('owner' in found) return found.owner;
  const { code, message, details } = found.refusal;
  throw new DomainError(code, message, { details });
}

/** Roughly, in bytes of memory. */
function weightOf({ operations }: MutationWork): number {
  return operations.reduce(
    (sum, { path, value }) => sum + OPERATION_BYTES + path.length + (typeof value === 'string' ? value.length : 8),
    WORK_BYTES,
  );
}

const WORK_BYTES = 500;
const OPERATION_BYTES = 100;
