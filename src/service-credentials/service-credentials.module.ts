import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ServiceCredential } from './entities/service-credential.entity';
import { ServiceCredentialUse } from './service-credential-use';
import { ServiceCredentialRepository } from './service-credential.repository';
import { ServiceCredentialsController } from './service-credentials.controller';
import { ServiceCredentialsService } from './service-credentials.service';
import { SignatureStrategy } from './signature.strategy';
import { SigningCredentials } from './signing-credentials';

@Module({
  imports: [TypeOrmModule.forFeature([ServiceCredential])],
  controllers: [ServiceCredentialsController],
  providers: [
    ServiceCredentialsService,
    ServiceCredentialRepository,
    ServiceCredentialUse,
    SigningCredentials,
    SignatureStrategy,
  ],
})
export class ServiceCredentialsModule {}
