import { ApiExtension } from '@nestjs/swagger';
import type { ErrorCode } from '../../errors/error-codes';

/** Under this an operation of the document lists the `error_code` of each of its refusals. */
export const ERROR_CODES_EXTENSION = 'x-error-codes';

/** Documents refusals of a route beyond those that follow from its kind, which `openapi-problems.ts` knows. */
export function MayRefuse(...codes: readonly [ErrorCode, ...ErrorCode[]]): MethodDecorator {
  return ApiExtension(ERROR_CODES_EXTENSION, codes);
}
