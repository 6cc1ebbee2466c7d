import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeysModule } from '../api-keys/api-keys.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ConsoleController } from './console.controller';
import { ConsoleGateway } from './console-gateway';
import { builtPagesFolder, ConsolePages } from './console-pages';
import { ConsoleSessions } from './console-sessions';
import { ConsoleSignIn } from './console-sign-in';
import { EndedSessions } from './ended-sessions';
import { ConsoleSessionRow } from './entities/console-session.entity';
import { KeyGrants } from './key-grants';
import { LiveController } from './live/live.controller';
import { LiveModule } from './live/live.module';
import { OidcGrantRow } from './oidc/entities/oidc-grant.entity';
import { OidcController } from './oidc/oidc.controller';
import { OidcGrants } from './oidc/oidc-grants';
import { OidcProvider } from './oidc/oidc-provider';
import { OidcSignIn } from './oidc/oidc-sign-in';
import { SignInFlows } from './oidc/sign-in-flow';
import { SessionGrantSources } from './session-grants';
import { SessionGuard } from './session.guard';

@Module({
  imports: [TypeOrmModule.forFeature([ConsoleSessionRow, OidcGrantRow]), ApiKeysModule, LiveModule, WorkspacesModule],
  controllers: [ConsoleController, LiveController, OidcController],
  providers: [
    { provide: ConsolePages, useFactory: () => new ConsolePages(builtPagesFolder()) },
    ...[ConsoleGateway, ConsoleSessions, ConsoleSignIn, EndedSessions, KeyGrants, SessionGrantSources, SessionGuard],
    ...[OidcGrants, OidcProvider, OidcSignIn, SignInFlows],
  ],
  exports: [ConsoleGateway],
})
export class ConsoleModule {}
