import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { JwtIssuer } from './entities/jwt-issuer.entity';
import { IssuerDefinitionCheck } from './issuer-definition-check';
import { KeySets } from './jwks/key-sets';
import { JwtIssuerRepository } from './jwt-issuer.repository';
import { JwtIssuersController } from './jwt-issuers.controller';
import { JwtIssuersService } from './jwt-issuers.service';
import { JwtStrategy } from './jwt.strategy';
import { KnownIssuers } from './known-issuers';
import { TokenKeys } from './token-keys';

@Module({
  imports: [TypeOrmModule.forFeature([JwtIssuer]), WorkspacesModule],
  controllers: [JwtIssuersController],
  providers: [
    JwtIssuersService,
    IssuerDefinitionCheck,
    JwtIssuerRepository,
    KnownIssuers,
    TokenKeys,
    KeySets,
    JwtStrategy,
  ],
})
export class JwtIssuersModule {}
