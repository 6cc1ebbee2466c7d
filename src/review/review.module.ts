import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClosedEntryRetention } from './closed-entry-retention';
import { ReviewDismissal } from './dismissals/entities/review-dismissal.entity';
import { ReviewDismissalRepository } from './dismissals/review-dismissal.repository';
import { ReviewDismissalsController } from './dismissals/review-dismissals.controller';
import { ReviewDismissalsService } from './dismissals/review-dismissals.service';
import { ReviewBytes } from './entities/review-bytes.entity';
import { ReviewEntry } from './entities/review-entry.entity';
import { OpenRefusals } from './open-refusals';
import { PersonSearch } from './person-search';
import { RefusalSample } from './refusal-sample';
import { ReviewOfPerson } from './review-of-person';
import { ReviewController } from './review.controller';
import { ReviewMetrics } from './review-metrics';
import { ReviewReader } from './review-reader';
import { ReviewResolutions } from './review-resolutions';
import { ReviewRetention } from './review-retention';
import { ReviewSummary } from './review-summary';
import { ReviewViews } from './review-views';
import { ReviewService } from './review.service';

@Module({
  imports: [TypeOrmModule.forFeature([ReviewEntry, ReviewBytes, ReviewDismissal])],
  controllers: [ReviewController, ReviewDismissalsController],
  providers: [
    ReviewService,
    ReviewMetrics,
    ReviewReader,
    ReviewViews,
    ReviewSummary,
    ReviewResolutions,
    OpenRefusals,
    ReviewRetention,
    ClosedEntryRetention,
    ReviewOfPerson,
    PersonSearch,
    RefusalSample,
    ReviewDismissalsService,
    ReviewDismissalRepository,
  ],
  exports: [ReviewService, ReviewReader, ReviewViews, ReviewResolutions, OpenRefusals, RefusalSample],
})
export class ReviewModule {}
