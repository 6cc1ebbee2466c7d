import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../errors/domain-error';

/** What whoever runs the service asks of every process. */
const OPERATORS_PATHS = /^\/(health(\/|$)|metrics$)/;

/** Of a process that only works: it answers operators, and sends everybody else away. */
export function serveNoApi(request: Request, _response: Response, next: NextFunction): void {
  if (OPERATORS_PATHS.test(request.path)) next();
  else next(new DomainError('not_found', 'This process serves no API (ROLE=worker). Call one that does.'));
}
