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
  /** The event in the form of its family, corrected, with the source and the event id that the entry has; absent: as it came. */
  @IsOptional()
  @IsObject()
  @ApiProperty({ type: 'object', additionalProperties: true })
  payload?: Record<string, unknown>;
}

/** The event, which was stored and could not be processed, is processed now. */
export class ProcessedResultDto {
  @ApiProperty({ enum: ['processed'] })
  status!: 'processed';

  event_id!: string;
}

/** The event is stored, and still cannot be processed. */
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

const RESULTS = [
  ...[AcceptedResultDto, DuplicateResultDto, ErrorResultDto],
  ...[ProcessedResultDto, ProcessingFailedResultDto],
];

/** What has become of the event, and of the entry. */
@ApiExtraModels(...RESULTS)
export class ReplayedDto {
  @ApiProperty({ oneOf: RESULTS.map((dto) => ({ $ref: getSchemaPath(dto) })) })
  outcome!: ReplayResultDto;

  reviewEntry!: ReviewEntryDto;
}

/** The words of a result on the wire. */
export function replayResultDto(result: ReplayResult): ReplayResultDto {
  if (result.status === 'processed') return { status: 'processed', event_id: result.eventId };
  if (result.status !== 'failed') return ingestResultDto(result);
  const { code, message, details } = result.failure;
  return { status: 'failed', event_id: result.eventId, error_code: code, message, details };
}
