import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ServiceCredential } from './entities/service-credential.entity';
import { ServiceCredentialUse, SignatureStrategy } from './signature.strategy';
import { ServiceCredentialRepository } from './service-credential.repository';
import { ServiceCredentialsController } from './service-credentials.controller';
import { ServiceCredentialsService } from './service-credentials.service';
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
