import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Participant } from '../platform/auth/principal';
import { validationFailed } from '../platform/errors/validation-failed';
import { IDEMPOTENCY_KEY, conflictsIn, parseMutationRequest } from './domain/mutation-request';
import type { NamedField } from './domain/state-owner';
import type { MutationResultDto } from './dto/mutation.dto';
import { StateDto } from './dto/state.dto';
import type { StateQuery } from './dto/state.query';
import { MutationFigures } from './mutation-figures';
import { RuntimeService } from './runtime.service';

const PAYLOAD_MISMATCH = 'Mutation-Payload-Mismatch';

/** What the two mounts of the runtime have in common between a request and the service. */
@Injectable()
export class RuntimeRequests {
  constructor(
    private readonly runtime: RuntimeService,
    private readonly figures: MutationFigures,
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
    request: Request,
    response: Response,
  ): Promise<MutationResultDto> {
    const parsed = parseMutationRequest(body, request.get(IDEMPOTENCY_KEY));
    if ('faults' in parsed) throw validationFailed(parsed.faults);
    const { named } = parsed.request;
    const { status, mutations, otherOperations } = await this.runtime.mutate(participant, {
      ...parsed.request,
      named: { ...named, campaigns: [...inAddress(addressed), ...named.campaigns] },
    });
    this.figures.settled(status);
    if (otherOperations) response.setHeader(PAYLOAD_MISMATCH, 'true');
    return { status, mutations };
  }
}

function inAddress(campaignId: string | undefined): NamedField[] {
  return campaignId === undefined ? [] : [{ field: 'campaign_id', value: campaignId }];
}
