import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse } from '@nestjs/swagger';
import type { ErrorCode } from '../platform/errors/error-codes';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { documentedHeaders } from '../platform/http/openapi/openapi-headers';
import { IDEMPOTENCY_KEY } from './domain/mutation-request';
import { MutationResultDto } from './dto/mutation.dto';

/** Documents a route that mutates state; `refusals`: beside those that all of them have. */
export function ApiMutation(...refusals: readonly ErrorCode[]): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: IDEMPOTENCY_KEY,
      required: false,
      description: 'An alias of `mutation_id`, as `"abc"` (a string of RFC 9651) or `abc`.',
    }),
    ApiOkResponse({ type: MutationResultDto, headers: documentedHeaders('Mutation-Payload-Mismatch') }),
    MayRefuse('system_field', 'undeclared_variable', ...refusals),
  );
}
