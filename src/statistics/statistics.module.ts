import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IngestModule } from '../ingest/ingest.module';
import { IngestStatistics } from './entities/ingest-statistics.entity';
import { IngestStatisticsChange } from './entities/ingest-statistics-change.entity';
import { IngestStatisticsProgress } from './entities/ingest-statistics-progress.entity';
import { LogCounter } from './log-counter';
import { OutcomeRecorder } from './outcome-recorder';
import { StatisticsController } from './statistics.controller';
import { StatisticsReader } from './statistics-reader';

@Module({
  imports: [
    TypeOrmModule.forFeature([IngestStatistics, IngestStatisticsChange, IngestStatisticsProgress]),
    IngestModule,
  ],
  controllers: [StatisticsController],
  providers: [LogCounter, OutcomeRecorder, StatisticsReader],
  exports: [LogCounter],
})
export class StatisticsModule {}
