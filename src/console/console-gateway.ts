import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { AuthenticatedRequest } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { ConsolePages } from './console-pages';
import { pageHeaders } from './page-headers';
import { assertSameSite } from './same-site';
import { SessionGuard } from './session.guard';

export const CONSOLE_PATH = '/console';
const API_PATH = '/console/api';
/** Here the routes of the API are found below the console's. */
const MOUNTED = '/console/api/v1/';

/**
 * The way into the console (contract section 10). Every request below `/console/api` must come from a page of the console.
 * One below `/console/api/v1` gets the caller of its session, and goes on to the route of the API.
 */
@Injectable()
export class ConsoleGateway {
  private readonly headers = pageHeaders();

  constructor(
    private readonly guard: SessionGuard,
    private readonly pages: ConsolePages,
  ) {}

  /** Takes all requests whose target begins with `/console`. */
  readonly handle: RequestHandler = (request, response, next) => {
    this.headers(request, response, (error?: unknown) => {
      if (error !== undefined) next(error);
      else this.route(request, response, next);
    });
  };

  private route(request: Request, response: Response, next: NextFunction): void {
    if (!isBelow(API_PATH, request.path)) {
      if (isBelow(CONSOLE_PATH, request.path)) this.pages.serve(request, response).catch(next);
      else next();
      return;
    }
    response.setHeader('Cache-Control', 'no-store');
    assertSameSite(request);
    if (request.url.startsWith(MOUNTED)) this.callApi(request).then(() => next(), next);
    else next();
  }

  private async callApi(request: Request): Promise<void> {
    const { principal } = await this.guard.admit(request);
    setCaller(request, principal);
    mount(request);
  }
}

/** Credentials in the headers of the request do not count any more. */
function setCaller(request: AuthenticatedRequest, caller: Principal): void {
  delete request.headers.authorization;
  delete request.headers['signature-input'];
  request.sessionCaller = caller;
}

/** Has the routes of the API answer the request: `/console/api/v1/events` becomes `/v1/events`. */
function mount(request: AuthenticatedRequest): void {
  request.mountPath = API_PATH;
  request.url = request.url.slice(API_PATH.length);
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
