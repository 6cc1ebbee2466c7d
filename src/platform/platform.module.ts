import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLog } from './audit/audit-log';
import { AuditLogLine } from './audit/entities/audit-log-line.entity';
import { AuthModule } from './auth/auth.module';
import { Clock } from './values/clock';
import { SETTINGS_TOKEN, type Settings } from './config/settings';
import { InvalidationFeed } from './invalidation/invalidation-feed';
import { Invalidation } from './invalidation/entities/invalidation.entity';
import { GroupCommits } from './group-commit/group-commits';
import { CONNECTION_SETTINGS, type ConnectionSettings } from './postgres/connection-settings';
import { isLateConnection } from './postgres/database-errors';
import { databaseOptions } from './postgres/database-options';
import { CrossWorkspaceReads } from './postgres/distribution/cross-workspace-reads';
import { OpenTransactions } from './postgres/distribution/open-transactions';
import { WorkspaceNodes } from './postgres/distribution/workspace-nodes';
import { ProblemDetailsFilter } from './http/problem-details.filter';
import { statusPolicy } from './errors/status-policy';
import { BODY_LIMITS, type BodyLimitsByName } from './http/body/json-body';
import { HeldBodies } from './http/body/held-bodies';
import { BodyValidators } from './http/body/body-validators';
import { UnmaskAuditLine } from './auth/entities/unmask-audit-line.entity';
import { UnmaskedCustomer } from './auth/entities/unmasked-customer.entity';
import { JobScheduleRow } from './jobs/entities/job-schedule.entity';
import { Jobs } from './jobs/jobs';
import { LostJobs } from './jobs/lost-jobs';
import { PersonalProperties } from './privacy/personal-properties';
import { ObservabilityModule } from './health/observability.module';
import { UnmaskAudit } from './auth/unmask-audit';
import { PersonalData } from './privacy/personal-data';
import { SecretsKeyCheckRow } from './secrets/entities/secrets-key-check.entity';
import { InstallationKey } from './secrets/entities/installation-key.entity';
import { KeyedIds } from './secrets/keyed-ids';
import { SecretBox } from './secrets/secret-box';

/** A server under load accepts a connection late. Anything else that is wrong with it is reported at once. */
const START_RETRIES = {
  retryAttempts: 5,
  retryDelay: 500,
  toRetry: isLateConnection,
};

/** What every feature needs: settings, clock, database, credentials, HTTP. It knows no feature. */
@Global()
@Module({})
export class PlatformModule {
  static with(settings: Settings, connection: ConnectionSettings): DynamicModule {
    const providers: Provider[] = [
      { provide: SETTINGS_TOKEN, useValue: settings },
      { provide: CONNECTION_SETTINGS, useValue: connection },
      { provide: BODY_LIMITS, useValue: bodyLimits(settings) },
      { provide: ProblemDetailsFilter, useValue: new ProblemDetailsFilter(statusPolicy(settings)) },
      ...[
        Clock,
        InvalidationFeed,
        Jobs,
        LostJobs,
        PersonalProperties,
        PersonalData,
        AuditLog,
        UnmaskAudit,
        SecretBox,
        KeyedIds,
        BodyValidators,
        WorkspaceNodes,
        OpenTransactions,
        CrossWorkspaceReads,
        GroupCommits,
      ],
    ];
    return {
      module: PlatformModule,
      imports: [
        TypeOrmModule.forRoot({ ...databaseOptions(connection), autoLoadEntities: true, ...START_RETRIES }),
        TypeOrmModule.forFeature([
          Invalidation,
          InstallationKey,
          JobScheduleRow,
          SecretsKeyCheckRow,
          AuditLogLine,
          UnmaskAuditLine,
          UnmaskedCustomer,
        ]),
        AuthModule,
        ObservabilityModule,
      ],
      providers,
      exports: providers,
    };
  }
}

function bodyLimits(settings: Settings): BodyLimitsByName {
  const { bodyBytesMax, batchBytesMax, batchItemsMax: entriesMax, propertiesBytesMax } = settings;
  const held = new HeldBodies(settings.heldBodiesBytesMax);
  return {
    single: { bodyBytesMax, propertiesBytesMax, held },
    batch: { bodyBytesMax: batchBytesMax, propertiesBytesMax, entriesMax, held },
  };
}
