import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyReader } from './api-key-reader';
import { ApiKeyPrincipals, ApiKeyUse } from './api-key-principals';
import { ApiKeyStrategy } from './api-key.strategy';
import { ApiKeyRepository } from './api-key.repository';
import { ApiKeysController } from './api-keys.controller';
import { ApiKeysService } from './api-keys.service';
import { ApiKeyAudit } from './entities/api-key-audit.entity';
import { ApiKey } from './entities/api-key.entity';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKey, ApiKeyAudit])],
  controllers: [ApiKeysController],
  providers: [ApiKeysService, ApiKeyReader, ApiKeyRepository, ApiKeyPrincipals, ApiKeyStrategy, ApiKeyUse],
  exports: [ApiKeysService, ApiKeyPrincipals],
})
export class ApiKeysModule {}
