import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IngestModule } from '../ingest/ingest.module';
import { ReviewModule } from '../review/review.module';
import { ReviewReplayPiece } from './entities/review-replay-piece.entity';
import { ReviewReplay } from './entities/review-replay.entity';
import { ReplayController } from './replay.controller';
import { ReplayService } from './replay.service';

@Module({
  imports: [TypeOrmModule.forFeature([ReviewReplay, ReviewReplayPiece]), IngestModule, ReviewModule],
  controllers: [ReplayController],
  providers: [ReplayService],
})
export class ReplayModule {}
