import { applyDecorators, SetMetadata, UseFilters, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension, ApiHeader, ApiSecurity } from '@nestjs/swagger';
import { RefuseUndeclaredQuery } from '../http/checked-query.decorator';
import { RefusedReadFilter } from '../http/problem-details.filter';
import type { RateLimited } from '../rate-limit/rate-limits';
import { ApiKeyGuard } from './api-key.guard';
import {
  API_KEY_SECURITY,
  FURTHER_SCOPES,
  JWT_SECURITY,
  NEEDS_PROOF,
  RATE_LIMIT_EXTENSION,
  RATE_LIMITED,
  REQUIRED_SCOPE,
  SIGNATURE_SECURITY,
  TAKES_SIGNATURES,
  UNAUTHENTICATED,
  UNMASKS,
} from './auth-metadata';
import { JwtGuard } from './jwt.guard';
import { RateLimitGuard } from './rate-limit.guard';
import { BoundCursorsInterceptor, ReadSlotsInterceptor } from './list-requests.interceptors';
import { isReadScope, type Scope } from './scopes';
import { WORKSPACE_HEADER } from './workspace-header';

export interface BackendOptions {
  /** The route also accepts requests that a service credential has signed. */
  readonly orSignature?: boolean;
  /** The rate limit per credential. Default for read scopes: `reads`. */
  readonly rate?: RateLimited;
  /** The answer is streamed: the handler takes a read slot for each step itself. */
  readonly streams?: boolean;
  /** Further scopes that the key must have. */
  readonly and?: readonly Scope[];
  /** In the console the route needs a fresh proof of who is signed in (contract section 10). */
  readonly proof?: boolean;
  /** The handler reads the query by itself, and refuses what it does not know. */
  readonly readsQuery?: boolean;
  /** The route takes `?unmask=true`, for which the key must have `pii:read` as well. */
  readonly unmasks?: boolean;
}

/**
 * The route requires an API key with this scope, checked before a byte of the body is read (contract section 1, order). With
 * a read scope, the rate limit of reads and the read slots of the workspace apply as well.
 */
export function AuthenticateApiKey(scope: Scope, options: BackendOptions = {}): MethodDecorator {
  const { orSignature = false, rate, and = [], unmasks = false, streams = false, proof = false } = options;
  const reads = isReadScope(scope);
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, scope),
    SetMetadata(FURTHER_SCOPES, and),
    SetMetadata(UNMASKS, unmasks),
    SetMetadata(TAKES_SIGNATURES, orSignature),
    SetMetadata(NEEDS_PROOF, proof),
    ...limited(ApiKeyGuard, rate ?? (reads ? 'reads' : undefined)),
    ...(options.readsQuery === true ? [] : [RefuseUndeclaredQuery()]),
    ...(reads ? [UseFilters(RefusedReadFilter)] : []),
    ...(reads && !streams ? [UseInterceptors(ReadSlotsInterceptor, BoundCursorsInterceptor)] : []),
    ...(orSignature ? [ApiSecurity(SIGNATURE_SECURITY)] : []),
    ApiBearerAuth(API_KEY_SECURITY),
    ApiExtension('x-required-scope', [scope, ...and].join(' ')),
  );
}

const WORKSPACE_WORDS =
  'The name of the workspace that the token is for, where several have registered its issuer and audience. Without it, ' +
  'the token is for the one that registered them first.';

/** The route requires the JWT of a participant, checked before a byte of the body is read. */
export function AuthenticateParticipant({ rate }: Pick<BackendOptions, 'rate'> = {}): MethodDecorator {
  return applyDecorators(
    ...limited(JwtGuard, rate),
    RefuseUndeclaredQuery(),
    ApiBearerAuth(JWT_SECURITY),
    ApiHeader({ name: WORKSPACE_HEADER, required: false, description: WORKSPACE_WORDS }),
  );
}

/**
 * The route needs no credential, for the given reason. A test checks that every route declares its authentication or this
 * reason, so that no guard is forgotten.
 */
export function Unauthenticated(why: string): MethodDecorator & ClassDecorator {
  // In the document an empty requirement stands for no credential.
  return applyDecorators(SetMetadata(UNAUTHENTICATED, why), ApiSecurity({}));
}

/** Guards run in this order: authentication, then the rate limit. */
function limited(guard: typeof ApiKeyGuard | typeof JwtGuard, rate: RateLimited | undefined) {
  if (rate === undefined) return [UseGuards(guard)];
  return [SetMetadata(RATE_LIMITED, rate), UseGuards(guard, RateLimitGuard), ApiExtension(RATE_LIMIT_EXTENSION, rate)];
}
