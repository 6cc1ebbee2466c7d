import { applyDecorators, HttpCode, UseFilters } from '@nestjs/common';
import { ApiHeader, ApiOkResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { ErrorCode } from '../platform/errors/error-codes';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { documentedHeaders } from '../platform/http/openapi/openapi-headers';
import { IDEMPOTENCY_KEY } from './domain/mutation-request';
import { MutationResultDto } from './dto/mutation.dto';
import { RefusedMutationFilter } from './mutation-metrics';
import type { MutationReply, ReceivedMutation } from './mutation-pipeline';

const PAYLOAD_MISMATCH = 'Mutation-Payload-Mismatch';

/** A route that mutates state. `refusals`: error codes of this route, beside those of all such routes. */
export function MutationRoute(...refusals: readonly ErrorCode[]): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    ApiHeader({
      name: IDEMPOTENCY_KEY,
      required: false,
      description: 'An alias of `mutation_id`, as `"abc"` (a string of RFC 9651) or `abc`.',
    }),
    ApiOkResponse({ type: MutationResultDto, headers: documentedHeaders(PAYLOAD_MISMATCH) }),
    MayRefuse('system_field', 'undeclared_variable', 'limit_reached', ...refusals),
    UseFilters(RefusedMutationFilter),
  );
}

export function receivedMutation(body: unknown, request: Request): ReceivedMutation {
  return { body, idempotencyKey: request.get(IDEMPOTENCY_KEY) };
}

export function answerMutation(
  { status, mutations, hasOtherOperations }: MutationReply,
  response: Response,
): MutationResultDto {
  if (hasOtherOperations) response.setHeader(PAYLOAD_MISMATCH, 'true');
  return { status, mutations };
}
