import { createParamDecorator, Query, type ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { Request } from 'express';
import { fieldPath, unknownFieldFault } from '../errors/fault-words';
import { validationFailed } from '../errors/validation-failed';
import { queryValidation } from './validation';

const checked = queryValidation();

/**
 * The query of a route, checked against the class of the parameter. A global pipe would delay every request, also on routes
 * without a query.
 */
export function CheckedQuery(): ParameterDecorator {
  return Query(checked);
}

const refuseQuery = createParamDecorator((_data: undefined, context: ExecutionContext): undefined => {
  const { query } = context.switchToHttp().getRequest<Request>();
  const faults = Object.keys(query).map((name) => unknownFieldFault(fieldPath('', name), 'this query'));
  if (faults.length > 0) throw validationFailed(faults);
});

/**
 * Refuses the query parameters of a route whose handler takes none, so that a call with `?dry_run=true` never changes
 * what the caller only meant to try. It is a further parameter of the handler, the last one: checked behind the guards,
 * and after what the headers say of the body. It does nothing on a route with `@CheckedQuery`.
 */
export function RefuseUndeclaredQuery(): MethodDecorator {
  return (target, method) => {
    const noted = Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, method) as object | undefined;
    const parameters = Object.keys(noted ?? {});
    if (parameters.some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`))) return;
    // A key ends with the place of its parameter.
    const places = parameters.map((key) => Number(key.slice(key.lastIndexOf(':') + 1)));
    refuseQuery()(target, method, Math.max(-1, ...places) + 1);
  };
}
