import { Global, Module } from '@nestjs/common';
import { ApiKeyGuard } from './api-key.guard';
import { CredentialMemory } from './credential-memory';

/** What every route needs to know who is calling; the strategies that verify credentials live with their tables. */
@Global()
@Module({ providers: [ApiKeyGuard, CredentialMemory], exports: [ApiKeyGuard, CredentialMemory] })
export class AuthModule {}
