import { Injectable } from '@nestjs/common';
import type { Participant } from '../platform/auth/principal';
import { unavailable } from '../platform/database/database-errors';
import { DomainError } from '../platform/errors/domain-error';
import { newMark } from '../platform/ids/ids';
import { VariablesService } from '../variables/variables.service';
import type { MutationRequest } from './domain/mutation-request';
import type { MutationEntry, MutationStatus } from './domain/mutation-result';
import { mutationKey, type MutationOutcome, type MutationWork } from './domain/mutation-work';
import { fingerprintOf } from './domain/operations-fingerprint';
import { findStateOwner, type NamedOwner, type StateOwner } from './domain/state-owner';
import { readState, type StateTree, type SystemFields } from './domain/state-tree';
import { MutationLane } from './mutation-lane';
import { StateReader } from './state-reader';

export interface SettledMutation {
  readonly status: MutationStatus;
  readonly mutations: readonly MutationEntry[];
  /** The id was used for other operations before; those were not applied now. */
  readonly otherOperations: boolean;
}

/** Reads and changes the state of campaigns for participants (contract section 8). */
@Injectable()
export class RuntimeService {
  constructor(
    private readonly variables: VariablesService,
    private readonly lane: MutationLane,
    private readonly reader: StateReader,
  ) {}

  /** What the participant sees. Throws `context_violation`, `campaign_required`. */
  async read(participant: Participant, named: NamedOwner): Promise<StateTree> {
    const { tenantId } = participant;
    return (await this.readFor(tenantId, ownerOf(participant, named))).state;
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
    return { state: readState(declarations, values), system };
  }

  /**
   * Applies all operations or none; resolves after the commit. Throws `context_violation`, `campaign_required`,
   * `system_field`, `undeclared_variable`, `validation_failed`, `unavailable`.
   */
  async mutate(participant: Participant, { operations, mutationId, named }: MutationRequest): Promise<SettledMutation> {
    const { tenantId, sessionId } = participant;
    const owner = ownerOf(participant, named);
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

function settled(outcome: MutationOutcome): SettledMutation {
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

function ownerOf(participant: Participant, named: NamedOwner): StateOwner {
  const found = findStateOwner(participant, named);
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
