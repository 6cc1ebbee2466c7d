import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../../ingest/domain/event-limits';
import type { TimelineOrder } from '../../../ingest/log/timeline-range';
import { TimeBound } from '../../../ingest/log/dto/time-bound.decorator';
import { Unmaskable, type Unmask } from '../../../platform/auth/unmask.query';
import { PageQuery } from '../../../platform/pagination/page.query';

export class ProfileTimelineQuery extends PageQuery {
  @IsOptional()
  @IsString()
  @MaxLength(EVENT_TYPE_CHARACTERS_MAX)
  @ApiPropertyOptional({ type: 'string' })
  eventType?: string;

  @IsOptional()
  @IsString()
  @MaxLength(SOURCE_CHARACTERS_MAX)
  @ApiPropertyOptional({ type: 'string' })
  source?: string;

  /** Events that occurred at this time or later. */
  @TimeBound()
  from?: string;

  /** Events that occurred before this time. */
  @TimeBound()
  to?: string;

  /** `desc`, newest first, when absent. */
  @IsOptional()
  @IsIn(['asc', 'desc'])
  @ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })
  order?: TimelineOrder;

  @Unmaskable()
  unmask?: Unmask;
}
