import { Module, type DynamicModule } from '@nestjs/common';
import { ApiKeysModule } from './api-keys/api-keys.module';
import { CdpModule } from './cdp/cdp.module';
import { ConsoleModule } from './console/console.module';
import { IngestModule } from './ingest/ingest.module';
import { JwtIssuersModule } from './jwt-issuers/jwt-issuers.module';
import type { Settings } from './platform/config/settings';
import type { ConnectionSettings } from './platform/postgres/connection-settings';
import { PlatformModule } from './platform/platform.module';
import { ProcessingModule } from './processing/processing.module';
import { ReactionsModule } from './reactions/reactions.module';
import { ReplayModule } from './replay/replay.module';
import { RetentionModule } from './retention/retention.module';
import { ReviewModule } from './review/review.module';
import { ServiceCredentialsModule } from './service-credentials/service-credentials.module';
import { RuntimeModule } from './runtime/runtime.module';
import { StatisticsModule } from './statistics/statistics.module';
import { VariablesModule } from './variables/variables.module';
import { WebhooksModule } from './webhooks/webhooks.module';
import { WorkspacesModule } from './workspaces/workspaces.module';

/** The whole service over one database. Express tries routes in this order, so that those that are called most come first. */
@Module({
  imports: [
    IngestModule,
    RuntimeModule,
    CdpModule,
    ReviewModule,
    ProcessingModule,
    ReplayModule,
    RetentionModule,
    VariablesModule,
    ReactionsModule,
    StatisticsModule,
    WebhooksModule,
    ApiKeysModule,
    JwtIssuersModule,
    ServiceCredentialsModule,
    WorkspacesModule,
  ],
})
export class AppModule {
  static with(settings: Settings, connection: ConnectionSettings): DynamicModule {
    const console = settings.console === 'on' ? [ConsoleModule] : [];
    return { module: AppModule, imports: [PlatformModule.with(settings, connection), ...console] };
  }
}
