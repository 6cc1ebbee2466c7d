import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IngestModule } from '../ingest/ingest.module';
import { StatisticsModule } from '../statistics/statistics.module';
import { EventRetention } from './entities/event-retention.entity';
import { RetentionController } from './retention.controller';
import { RetentionJob } from './retention-job';
import { RetentionRepository } from './retention.repository';
import { RetentionService } from './retention.service';

@Module({
  imports: [TypeOrmModule.forFeature([EventRetention]), IngestModule, StatisticsModule],
  controllers: [RetentionController],
  providers: [RetentionService, RetentionRepository, RetentionJob],
})
export class RetentionModule {}
