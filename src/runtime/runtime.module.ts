import { Inject, Module, type NestModule } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import cors from 'cors';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { VariablesModule } from '../variables/variables.module';
import { MutationOutcome } from './entities/mutation-outcome.entity';
import { OutcomeClockRow } from './entities/outcome-clock.entity';
import { ParticipantState } from './entities/participant-state.entity';
import { SharedValue } from './entities/shared-value.entity';
import { browserAccess } from './browser-access';
import { MutationMetrics } from './mutation-metrics';
import { MutationGroupCommit } from './mutation-group-commit';
import { MutationTransaction } from './mutation-transaction';
import { OutcomeClock } from './outcome-clock';
import { OutcomePartitions } from './outcome-partitions';
import { ParticipantReader } from './participant-reader';
import { ParticipantsController } from './participants.controller';
import { RuntimeRequests } from './runtime-requests';
import { CampaignRuntimeController, RUNTIME_MOUNTS, RuntimeController } from './runtime.controller';
import { RuntimeService } from './runtime.service';
import { StateOfPerson } from './state-of-person';
import { StateReader } from './state-reader';
import { StateRepository } from './state.repository';

@Module({
  imports: [
    TypeOrmModule.forFeature([ParticipantState, SharedValue, MutationOutcome, OutcomeClockRow]),
    VariablesModule,
  ],
  controllers: [RuntimeController, CampaignRuntimeController, ParticipantsController],
  providers: [
    RuntimeService,
    RuntimeRequests,
    MutationGroupCommit,
    MutationMetrics,
    MutationTransaction,
    StateRepository,
    StateReader,
    ParticipantReader,
    StateOfPerson,
    OutcomeClock,
    OutcomePartitions,
  ],
  exports: [RuntimeService, MutationTransaction],
})
export class RuntimeModule implements NestModule {
  constructor(
    private readonly http: HttpAdapterHost,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /**
   * Browsers call the runtime, and nothing else: API keys have no place in them (contract section 8). Not by way of Nest's
   * consumer, which makes a route of every method of it: an address that nobody serves would be 405 instead of 404.
   */
  configure(): void {
    const access = cors(browserAccess(this.settings.corsOrigins));
    for (const mount of RUNTIME_MOUNTS) this.http.httpAdapter.use(`/${mount}`, access);
  }
}
