import { Global, Module } from '@nestjs/common';
import { BoundCursorsInterceptor, ReadSlotsInterceptor } from './list-requests.interceptors';
import { ReadSlots } from '../rate-limit/read-slots';
import { RateLimits } from '../rate-limit/rate-limits';
import { ApiKeyGuard } from './api-key.guard';
import { CredentialVerifier } from './credential-verifier';
import { FailedAuthentications } from './failed-authentications';
import { JwtGuard } from './jwt.guard';
import { RateLimitGuard } from './rate-limit.guard';

const PROVIDERS = [
  ...[ApiKeyGuard, JwtGuard, RateLimitGuard, CredentialVerifier, FailedAuthentications, RateLimits],
  ...[ReadSlots, ReadSlotsInterceptor, BoundCursorsInterceptor],
];

/** What every route needs to know who is calling; the strategies that verify credentials live with their tables. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class AuthModule {}
