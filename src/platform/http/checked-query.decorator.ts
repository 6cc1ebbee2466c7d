import { Query } from '@nestjs/common';
import { queryValidation } from './validation';

const checked = queryValidation();

/**
 * Takes the query of a route, checked against the class of the parameter. Not a pipe for all parameters of all routes, which
 * every request would wait for where there is nothing to check.
 */
export function CheckedQuery(): ParameterDecorator {
  return Query(checked);
}
