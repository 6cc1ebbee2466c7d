import { applyDecorators, SetMetadata, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { ApiKeyGuard } from './api-key.guard';
import { API_KEY_SECURITY, REQUIRED_SCOPE } from './auth-metadata';
import type { Scope } from './scopes';

/** The route takes an API key that has this scope; checked before a byte of the body is read (contract section 1, order). */
export function AuthenticateApiKey(scope: Scope): MethodDecorator & ClassDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, scope),
    UseGuards(ApiKeyGuard),
    ApiBearerAuth(API_KEY_SECURITY),
    ApiExtension('x-required-scope', scope),
  );
}
