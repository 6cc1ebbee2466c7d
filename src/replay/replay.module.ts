import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IngestModule } from '../ingest/ingest.module';
import { ProcessingModule } from '../processing/processing.module';
import { ReviewModule } from '../review/review.module';
import { BulkReplayService } from './bulk-replay.service';
import { ReviewReplayPiece } from './entities/review-replay-piece.entity';
import { ReviewReplay } from './entities/review-replay.entity';
import { ReplayJob } from './replay-job';
import { ReplayPieces } from './replay-pieces';
import { ReplayController } from './replay.controller';
import { ReplayRepository } from './replay.repository';
import { ReplayService } from './replay.service';
import { StoredEventReplay } from './stored-event-replay';

@Module({
  imports: [TypeOrmModule.forFeature([ReviewReplay, ReviewReplayPiece]), IngestModule, ProcessingModule, ReviewModule],
  controllers: [ReplayController],
  providers: [ReplayService, BulkReplayService, ReplayJob, ReplayPieces, ReplayRepository, StoredEventReplay],
})
export class ReplayModule {}
