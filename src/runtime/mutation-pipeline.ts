import { Injectable } from '@nestjs/common';
import type { Participant, Principal } from '../platform/auth/principal';
import { DomainError } from '../platform/errors/domain-error';
import { unavailable } from '../platform/errors/unavailable';
import { validationFailed } from '../platform/errors/validation-failed';
import { randomId } from '../platform/values/ids';
import { VariablesService } from '../variables/variables.service';
import { parseMutationRequest, type MutationRequest } from './domain/mutation-request';
import {
  fingerprintOf,
  mutationKey,
  type MutationEntry,
  type MutationResult,
  type MutationStatus,
} from './domain/mutation-work';
import {
  findAddressedOwner,
  findStateOwner,
  ownerOf,
  type NamedField,
  type StateAddress,
  type StateOwner,
} from './domain/state-owner';
import type { ChangeCause } from './domain/value-change';
import { MutationMetrics } from './mutation-metrics';
import { MutationStore } from './mutation-store';

/** A mutation as it was received: any JSON value, and the header that is an alias of its id. */
export interface ReceivedMutation {
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
}

export interface MutationReply {
  readonly status: MutationStatus;
  readonly mutations: readonly MutationEntry[];
  /** The id was used before for other operations; the operations of this request were not applied. */
  readonly hasOtherOperations: boolean;
}

/**
 * The way of a mutation, for participants and for backends (contract section 8):
 *
 *   parse ─► find the owner of the state ─► apply in a transaction ─► reply
 *
 * | step   | where                                                     | ends in             |
 * | ------ | --------------------------------------------------------- | ------------------- |
 * | parse  | `domain/mutation-request.ts`, `domain/operation.ts`       | 422                 |
 * | owner  | `domain/state-owner.ts`                                   | 403 or 409, 422     |
 * | apply  | `mutation-store.ts`, which calls                          | 503                 |
 * |        | `domain/apply-mutations.ts`: a repetition? paths, types,  | 200, 400, 422, 409  |
 * |        | limits                                                    |                     |
 * | reply  | here                                                      |                     |
 *
 * An owner of another campaign, app or participant than the token's is `context_violation`; its status is configurable.
 */
@Injectable()
export class MutationPipeline {
  constructor(
    private readonly variables: VariablesService,
    private readonly store: MutationStore,
    private readonly metrics: MutationMetrics,
  ) {}

  /**
   * A mutation by a participant; `campaigns`: those that the path names. Resolves after the commit. Throws
   * `validation_failed`, `context_violation`, `campaign_required`, `system_field`, `undeclared_variable`,
   * `unavailable`.
   */
  async mutate(
    participant: Participant,
    campaigns: readonly NamedField[],
    received: ReceivedMutation,
  ): Promise<MutationReply> {
    const request = parse(received);
    const named = { ...request.named, campaigns: [...campaigns, ...request.named.campaigns] };
    const owner = ownerOf(findStateOwner(participant, named));
    return this.reply(await this.apply(participant, owner, request, causeOf(request)));
  }

  /** A mutation by a backend, for the participant of the path; the session of the participant stays unchanged. */
  async mutateFor(
    { tenantId, credentialId }: Principal,
    address: StateAddress,
    received: ReceivedMutation,
  ): Promise<MutationReply> {
    const request = parse(received);
    const owner = ownerOf(findAddressedOwner(address, request.named));
    const cause = causeOf(request, credentialId);
    return this.reply(await this.apply({ tenantId, sessionId: null }, owner, request, cause));
  }

  private async apply(
    { tenantId, sessionId }: Pick<Participant, 'tenantId' | 'sessionId'>,
    owner: StateOwner,
    { operations, mutationId }: MutationRequest,
    cause: ChangeCause,
  ): Promise<MutationResult> {
    const workId = randomId();
    return this.store.apply({
      tenantId,
      owner,
      operations,
      sessionId,
      declarations: await this.variables.declarationsOf(tenantId, owner.campaignId),
      identity: {
        workId,
        // A mutation without an id gets one, by which the store finds out whether a commit of unknown outcome happened.
        mutationKey: mutationId === undefined ? mutationKey('request', workId) : mutationKey('client', mutationId),
        fingerprint: fingerprintOf(operations),
      },
      cause,
    });
  }

  private reply(result: MutationResult): MutationReply {
    switch (result.status) {
      case 'applied':
        this.metrics.succeeded('applied');
        return { status: 'applied', mutations: result.mutations, hasOtherOperations: false };
      case 'duplicate':
        this.metrics.succeeded('duplicate');
        return { status: 'duplicate', mutations: result.mutations, hasOtherOperations: !result.sameOperations };
      case 'refused': {
        const { code, message, extras } = result.refusal;
        throw new DomainError(code, message, extras);
      }
      case 'unavailable':
        throw unavailable();
    }
  }
}

function parse({ body, idempotencyKey }: ReceivedMutation): MutationRequest {
  const parsed = parseMutationRequest(body, idempotencyKey);
  if ('faults' in parsed) throw validationFailed(parsed.faults);
  return parsed.request;
}

function causeOf({ mutationId }: MutationRequest, actor?: string): ChangeCause {
  return {
    kind: 'mutation',
    ...(mutationId === undefined ? {} : { mutationId }),
    ...(actor === undefined ? {} : { actor }),
  };
}
