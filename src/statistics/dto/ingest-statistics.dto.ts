import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { TimeBound } from '../../ingest/log/dto/time-bound.decorator';
import { STATISTICS_STEPS, type StatisticsStep } from '../domain/statistics-range';

export const STATISTICS_GROUPS = ['source', 'family', 'eventType'] as const;
export type StatisticsGroup = (typeof STATISTICS_GROUPS)[number];

export class IngestStatisticsQuery {
  /** From this time on; 24 hours before `to` when absent. */
  @TimeBound()
  from?: string;

  /** Before this time; now when absent. The range has at most 1,440 steps. */
  @TimeBound()
  to?: string;

  /** The length of a step; steps begin at full minutes, hours and days in UTC. */
  @IsOptional()
  @IsIn(STATISTICS_STEPS)
  @ApiPropertyOptional({ enum: STATISTICS_STEPS, default: 'hour' })
  step?: StatisticsStep;

  /** By what events are told apart; one group when absent. */
  @IsOptional()
  @IsIn(STATISTICS_GROUPS)
  @ApiPropertyOptional({ enum: STATISTICS_GROUPS })
  groupBy?: StatisticsGroup;
}

/** The events of one group in one step. */
export class IngestStatisticsItemDto {
  /** When the step began, also where `from` is within it. */
  @ApiProperty({ type: String, format: 'date-time' })
  at!: string;

  /**
   * The source, family or type; null without `groupBy`, and for refused events whose name could not be read.
   * @example "shop.orders"
   */
  @ApiProperty({ type: String, nullable: true })
  group!: string | null;

  /** True for the rest beyond the 200 groups with the most events, whose `group` is `other`; otherwise absent. */
  @ApiPropertyOptional({ type: Boolean })
  isOther?: true;

  /** Events that were received in the step and stored: what `GET /v1/events` lists, and those whose retention has ended. */
  accepted!: number;

  /** Answers `duplicate`. */
  duplicate!: number;

  /** Answers with an error, also those that ask to send the event again. */
  refused!: number;

  /** Of the accepted ones: occurred more than 24 hours before they were received. */
  late!: number;

  /** Of the accepted ones: occur more than 24 hours after they were received. */
  clockSkewed!: number;
}

/** Steps in order, oldest first; within a step the group with the most events in the range first. What has no events is absent. */
export class IngestStatisticsDto {
  @ApiProperty({ type: () => [IngestStatisticsItemDto] })
  items!: IngestStatisticsItemDto[];
}
