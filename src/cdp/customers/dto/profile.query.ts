import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../../ingest/domain/event';
import type { TimelineOrder, TimelineSpan } from '../../../ingest/log/timeline-range';
import { TimeBound } from '../../../ingest/log/dto/time-bound.decorator';
import { Unmaskable, type Unmask } from '../../../platform/auth/unmask.query';
import { QueryText } from '../../../platform/http/query-text.decorator';
import { PageQuery } from '../../../platform/pagination/page.query';
import { pageStart } from '../../../platform/pagination/time-key';
import { parseTimeRange } from '../../../platform/pagination/time-range';

export class ProfileListQuery extends PageQuery {
  @Unmaskable()
  unmask?: Unmask;
}

export class ProfileTimelineQuery extends PageQuery {
  @QueryText(EVENT_TYPE_CHARACTERS_MAX)
  eventType?: string;

  @QueryText(SOURCE_CHARACTERS_MAX)
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

/** The part of a timeline that a query selects. Throws `validation_failed` with every fault. */
export function timelineSpan(query: ProfileTimelineQuery): TimelineSpan {
  const { order = 'desc', cursor } = query;
  return { order, ...parseTimeRange(query), after: cursor === undefined ? undefined : pageStart(cursor) };
}
