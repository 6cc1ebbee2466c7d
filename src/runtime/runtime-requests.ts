import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Participant, Principal } from '../platform/auth/principal';
import { validationFailed } from '../platform/errors/validation-failed';
import { IDEMPOTENCY_KEY, conflictsIn, parseMutationRequest, type MutationRequest } from './domain/mutation-request';
import type { NamedField, StateAddress } from './domain/state-owner';
import type { MutationResultDto } from './dto/mutation.dto';
import { StateDto } from './dto/state.dto';
import type { StateQuery } from './dto/state.query';
import { MutationMetrics } from './mutation-metrics';
import { RuntimeService, type SettledMutation } from './runtime.service';

const PAYLOAD_MISMATCH = 'Mutation-Payload-Mismatch';

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/** What the routes that read and change state have in common between a request and the service. */
@Injectable()
export class RuntimeRequests {
  constructor(
    private readonly runtime: RuntimeService,
    private readonly figures: MutationMetrics,
  ) {}

  async read(participant: Participant, query: StateQuery, addressed: string | undefined): Promise<StateDto> {
    const named = (['campaign_id', 'campaignId'] as const).flatMap((field): NamedField[] => {
      const value = query[field];
      return value === undefined ? [] : [{ field, value }];
    });
    const conflicts = conflictsIn(named);
    if (conflicts.length > 0) throw validationFailed(conflicts);
    const campaigns = [...inAddress(addressed), ...named.slice(0, 1)];
    return StateDto.of(await this.runtime.read(participant, { campaigns, apps: [], users: [] }));
  }

  async mutate(
    participant: Participant,
    body: unknown,
    addressed: string | undefined,
    { request, response }: Exchange,
  ): Promise<MutationResultDto> {
    const { named, ...mutation } = mutationIn(body, request);
    const campaigns = [...inAddress(addressed), ...named.campaigns];
    return this.told(await this.runtime.mutate(participant, { ...mutation, named: { ...named, campaigns } }), response);
  }

  /** The same by a backend, for the participant of its address. */
  async mutateFor(
    { tenantId }: Principal,
    address: StateAddress,
    body: unknown,
    { request, response }: Exchange,
  ): Promise<MutationResultDto> {
    return this.told(await this.runtime.mutateFor(tenantId, address, mutationIn(body, request)), response);
  }

  private told({ status, mutations, otherOperations }: SettledMutation, response: Response): MutationResultDto {
    this.figures.settled(status);
    if (otherOperations) response.setHeader(PAYLOAD_MISMATCH, 'true');
    return { status, mutations };
  }
}

function mutationIn(body: unknown, request: Request): MutationRequest {
  const parsed = parseMutationRequest(body, request.get(IDEMPOTENCY_KEY));
  if ('faults' in parsed) throw validationFailed(parsed.faults);
  return parsed.request;
}

function inAddress(campaignId: string | undefined): NamedField[] {
  return campaignId === undefined ? [] : [{ field: 'campaign_id', value: campaignId }];
}
