import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ReviewEntry } from './entities/review-entry.entity';
import { ReviewOfPerson } from './review-of-person';
import { ReviewController } from './review.controller';
import { ReviewReader } from './review-reader';
import { ReviewRetention } from './review-retention';
import { ReviewService } from './review.service';

@Module({
  imports: [TypeOrmModule.forFeature([ReviewEntry])],
  controllers: [ReviewController],
  providers: [ReviewService, ReviewReader, ReviewRetention, ReviewOfPerson],
  exports: [ReviewService],
})
export class ReviewModule {}
