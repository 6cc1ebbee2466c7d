import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { IsObject, IsOptional } from 'class-validator';
import {
  AcceptedResultDto,
  DuplicateResultDto,
  ErrorResultDto,
  ingestResultDto,
  type ItemResultDto,
} from '../../ingest/http/dto/ingest-result.dto';
import type { Fault } from '../../platform/errors/fault';
import { FaultDto } from '../../platform/errors/problem-details.dto';
import { ReviewEntryDto } from '../../review/dto/review-entry.dto';
import type { ReplayResult } from '../domain/replay-result';

export class ReplayDto {
  /**
   * The corrected event, in the form of its family, with the source and event id of the entry. A mask that a view
   * of the entry shows in the same place stands for the stored value. Absent: the stored payload.
   */
  @IsOptional()
  @IsObject()
  @ApiProperty({ type: 'object', additionalProperties: true })
  payload?: Record<string, unknown>;
}

/** The event was stored before, and is processed now. */
export class ProcessedResultDto {
  @ApiProperty({ enum: ['processed'] })
  status!: 'processed';

  event_id!: string;
}

/** The event is stored, and its processing failed again. */
export class ProcessingFailedResultDto {
  @ApiProperty({ enum: ['failed'] })
  status!: 'failed';

  event_id!: string;

  error_code!: string;

  message!: string;

  @ApiProperty({ type: [FaultDto] })
  details!: readonly Fault[];
}

export type ReplayResultDto = ItemResultDto | ProcessedResultDto | ProcessingFailedResultDto;

const RESULTS = [AcceptedResultDto, DuplicateResultDto, ErrorResultDto, ProcessedResultDto, ProcessingFailedResultDto];

/** The result for the event, and the entry afterwards. */
@ApiExtraModels(...RESULTS)
export class ReplayedDto {
  @ApiProperty({ oneOf: RESULTS.map((dto) => ({ $ref: getSchemaPath(dto) })) })
  outcome!: ReplayResultDto;

  reviewEntry!: ReviewEntryDto;
}

export function replayResultDto(result: ReplayResult): ReplayResultDto {
  switch (result.status) {
    case 'accepted':
    case 'duplicate':
    case 'error':
      return ingestResultDto(result);
    case 'processed':
      return { status: 'processed', event_id: result.eventId };
    case 'failed': {
      const { code, message, details } = result.failure;
      return { status: 'failed', event_id: result.eventId, error_code: code, message, details };
    }
  }
}
