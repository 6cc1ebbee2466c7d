import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IngestModule } from '../ingest/ingest.module';
import { ProcessingModule } from '../processing/processing.module';
import { RuntimeModule } from '../runtime/runtime.module';
import { VariablesModule } from '../variables/variables.module';
import { BackfillBatch } from './backfill/backfill-batch';
import { BackfillJob } from './backfill/backfill-job';
import { BackfillMarks } from './backfill/backfill-marks';
import { BackfillProgress } from './backfill/backfill-progress';
import { BackfillStep } from './backfill/backfill-step';
import { BackfillRepository } from './backfill/backfill.repository';
import { BackfillsController } from './backfill/backfills.controller';
import { BackfillsService } from './backfill/backfills.service';
import { ReactionBackfillMark } from './backfill/entities/reaction-backfill-mark.entity';
import { ReactionBackfill } from './backfill/entities/reaction-backfill.entity';
import { ReactionSet } from './entities/reaction-set.entity';
import { Reaction } from './entities/reaction.entity';
import { EventReactions } from './event-reactions';
import { ReactionCache } from './reaction-cache';
import { ReactionRepository } from './reaction.repository';
import { RehearsalController } from './rehearsal/rehearsal.controller';
import { RehearsalService } from './rehearsal/rehearsal.service';
import { ReactionsAhead } from './reactions-ahead';
import { ReactionsController } from './reactions.controller';
import { ReactionsService } from './reactions.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([Reaction, ReactionSet, ReactionBackfill, ReactionBackfillMark]),
    IngestModule,
    ProcessingModule,
    RuntimeModule,
    VariablesModule,
  ],
  controllers: [ReactionsController, BackfillsController, RehearsalController],
  providers: [
    ReactionsService,
    ReactionsAhead,
    ReactionRepository,
    ReactionCache,
    EventReactions,
    RehearsalService,
    // backfill
    BackfillsService,
    BackfillRepository,
    BackfillJob,
    BackfillStep,
    BackfillBatch,
    BackfillProgress,
    BackfillMarks,
  ],
})
export class ReactionsModule {}
