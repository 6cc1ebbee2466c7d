import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IngestModule } from '../ingest/ingest.module';
import { ProcessingModule } from '../processing/processing.module';
import { RuntimeModule } from '../runtime/runtime.module';
import { VariablesModule } from '../variables/variables.module';
import { ReactionSet } from './entities/reaction-set.entity';
import { Reaction } from './entities/reaction.entity';
import { EventReactions } from './event-reactions';
import { ReactionCache } from './reaction-cache';
import { ReactionRepository } from './reaction.repository';
import { ReactionsController } from './reactions.controller';
import { ReactionsService } from './reactions.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([Reaction, ReactionSet]),
    IngestModule,
    ProcessingModule,
    RuntimeModule,
    VariablesModule,
  ],
  controllers: [ReactionsController],
  providers: [ReactionsService, ReactionRepository, ReactionCache, EventReactions],
})
export class ReactionsModule {}
