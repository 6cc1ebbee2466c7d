import { Query } from '@nestjs/common';
import { queryValidation } from './validation';

const checked = queryValidation();

/**
 * The query of a route, checked against the class of the parameter. A global pipe would delay every request, also on routes
 * without a query.
 */
export function CheckedQuery(): ParameterDecorator {
  return Query(checked);
}
