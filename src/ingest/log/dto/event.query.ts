import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { Unmaskable, type Unmask } from '../../../platform/auth/unmask.query';
import { PageQuery } from '../../../platform/pagination/page.query';
import { EVENT_ID_CHARACTERS_MAX, EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../domain/event-limits';
import { EVENT_FAMILIES, type EventFamily } from '../../domain/submission';
import { PROCESSING_STATES, type ProcessingState } from '../../queue/processing-record';
import { TimeBound } from './time-bound.decorator';

export class EventQuery extends PageQuery {
  @IsOptional()
  @IsString()
  @MaxLength(SOURCE_CHARACTERS_MAX)
  @ApiPropertyOptional({ type: 'string' })
  source?: string;

  /** With `source`: the one event of this name, or none. */
  @IsOptional()
  @IsString()
  @MaxLength(EVENT_ID_CHARACTERS_MAX)
  @ApiPropertyOptional({ type: 'string' })
  externalEventId?: string;

  @IsOptional()
  @IsString()
  @MaxLength(EVENT_TYPE_CHARACTERS_MAX)
  @ApiPropertyOptional({ type: 'string' })
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

  @Unmaskable()
  unmask?: Unmask;
}
