import { Inject, Module, type NestModule } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import cors, { type CorsOptions } from 'cors';
import { WORKSPACE_HEADER } from '../platform/auth/workspace-header';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { VariablesModule } from '../variables/variables.module';
import { MutationOutcome } from './entities/mutation-outcome.entity';
import { OutcomeClockRow } from './entities/outcome-clock.entity';
import { ParticipantState } from './entities/participant-state.entity';
import { SharedValue } from './entities/shared-value.entity';
import { ValueChangeRow } from './entities/value-change.entity';
import { CampaignStates } from './campaign-states';
import { ChangeSubscribers } from './change-subscribers';
import { HistoryOfPerson } from './history-of-person';
import { HistoryReader } from './history-reader';
import { HistoryController } from './history.controller';
import { MutationMetrics } from './mutation-metrics';
import { MutationPipeline } from './mutation-pipeline';
import { MutationStore } from './mutation-store';
import { OutcomeClock } from './outcome-clock';
import { ParticipantReader } from './participant-reader';
import { ParticipantsController } from './participants.controller';
import { CampaignRuntimeController, RUNTIME_PATHS, RuntimeController } from './runtime.controller';
import { StateOfPerson } from './state-of-person';
import { StateReader } from './state-reader';
import { StateRepository } from './state.repository';
import { StateService } from './state.service';
import { ValuesOutsideLimits } from './values-outside-limits';
import { WeeklyPartitions } from './weekly-partitions';

/** How long a browser may cache a preflight. Browsers cap it; the lowest cap is two hours. */
const PREFLIGHT_SECONDS = 2 * 60 * 60;

/** Requests carry bearer tokens and no cookies, so any origin can be allowed without giving it a user's session. */
function browserAccess(origins: readonly string[]): CorsOptions {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST'],
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'Content-Encoding',
      'Idempotency-Key',
      'X-Request-Id',
      WORKSPACE_HEADER,
    ],
    exposedHeaders: [
      'X-Request-Id',
      'Mutation-Payload-Mismatch',
      'WWW-Authenticate',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
    ],
    credentials: false,
    maxAge: PREFLIGHT_SECONDS,
  };
}

@Module({
  imports: [
    TypeOrmModule.forFeature([ParticipantState, SharedValue, MutationOutcome, OutcomeClockRow, ValueChangeRow]),
    VariablesModule,
  ],
  controllers: [RuntimeController, CampaignRuntimeController, ParticipantsController, HistoryController],
  providers: [
    ChangeSubscribers,
    MutationPipeline,
    MutationStore,
    MutationMetrics,
    StateService,
    StateRepository,
    StateReader,
    ParticipantReader,
    CampaignStates,
    StateOfPerson,
    OutcomeClock,
    WeeklyPartitions,
    HistoryReader,
    HistoryOfPerson,
    ValuesOutsideLimits,
  ],
  exports: [CampaignStates, ChangeSubscribers, MutationStore, StateService],
})
export class RuntimeModule implements NestModule {
  constructor(
    private readonly http: HttpAdapterHost,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /**
   * Only the runtime may be called by browsers: an API key does not belong into one (contract section 8). Nest's
   * middleware consumer is not used: it makes a route for every method, and an unknown path would be 405 instead of
   * 404.
   */
  configure(): void {
    const access = cors(browserAccess(this.settings.corsOrigins));
    for (const path of RUNTIME_PATHS) this.http.httpAdapter.use(`/${path}`, access);
  }
}
