import { Global, Module } from '@nestjs/common';
import { ApiKeyGuard } from './api-key.guard';
import { CredentialMemory } from './credential-memory';
import { CredentialVerifier } from './credential-verifier';

/** What every route needs to know who is calling; the strategies that verify credentials live with their tables. */
@Global()
@Module({
  providers: [ApiKeyGuard, CredentialMemory, CredentialVerifier],
  exports: [ApiKeyGuard, CredentialMemory, CredentialVerifier],
})
export class AuthModule {}
