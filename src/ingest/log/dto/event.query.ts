import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { Unmaskable, type Unmask } from '../../../platform/auth/unmask.query';
import { QueryText } from '../../../platform/http/query-text.decorator';
import { PageQuery } from '../../../platform/pagination/page.query';
import { EVENT_ID_CHARACTERS_MAX, EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../domain/event';
import { EVENT_FAMILIES, type EventFamily } from '../../domain/submission';
import { PROCESSING_STATES, type ProcessingState } from '../../queue/processing-record';
import type { TimelineOrder } from '../timeline-range';
import { TimeBound } from './time-bound.decorator';

export class EventQuery extends PageQuery {
  @QueryText(SOURCE_CHARACTERS_MAX)
  source?: string;

  /** With `source`: the one event of this name, or none. */
  @QueryText(EVENT_ID_CHARACTERS_MAX)
  externalEventId?: string;

  @QueryText(EVENT_TYPE_CHARACTERS_MAX)
  eventType?: string;

  @IsOptional()
  @IsIn(EVENT_FAMILIES)
  @ApiPropertyOptional({ enum: EVENT_FAMILIES })
  family?: EventFamily;

  /** How far the events have come. */
  @IsOptional()
  @IsIn(PROCESSING_STATES)
  @ApiPropertyOptional({ enum: PROCESSING_STATES })
  state?: ProcessingState;

  /** Events that were received at this time or later. */
  @TimeBound()
  from?: string;

  /** Events that were received before this time. */
  @TimeBound()
  to?: string;

  /**
   * `desc`, newest first, when absent. `asc` lists in the order of receipt and ends at `completeBefore`, so that no event comes
   * before one that was shown, replayed ones excepted.
   */
  @IsOptional()
  @IsIn(['asc', 'desc'])
  @ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })
  order?: TimelineOrder;

  @Unmaskable()
  unmask?: Unmask;
}
