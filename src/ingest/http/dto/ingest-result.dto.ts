import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { Fault } from '../../../platform/errors/fault';
import { FaultDto } from '../../../platform/errors/problem-details.dto';
import type { RefusedResult, StoredResult } from '../../domain/ingest-result';

/** The event is stored and queued. */
export class AcceptedResultDto {
  @ApiProperty({ enum: ['accepted'] })
  status!: 'accepted';

  /** The event's id in this service; opaque. */
  event_id!: string;
}

/** The event was stored before; nothing was done. */
export class DuplicateResultDto {
  @ApiProperty({ enum: ['duplicate'] })
  status!: 'duplicate';

  /** The id of the stored event. */
  original_event_id!: string;
}

/** The event was not taken; it is kept in the review area. */
export class ErrorResultDto {
  @ApiProperty({ enum: ['error'] })
  status!: 'error';

  @ApiProperty({
    enum: ['validation_failed', 'source_not_allowed', 'identity_conflict', 'profile_erased', 'unavailable'],
    enumName: 'ItemErrorCode',
  })
  error_code!: string;

  message!: string;

  /** The faults found; of all items together at most 1,000, and the message says how many the item has. */
  @ApiProperty({ type: [FaultDto] })
  details!: readonly Fault[];
}

export type ItemResultDto = AcceptedResultDto | DuplicateResultDto | ErrorResultDto;

/** One result for each item, in their order. */
@ApiExtraModels(AcceptedResultDto, DuplicateResultDto, ErrorResultDto)
export class BatchResultDto {
  @ApiProperty({
    type: 'array',
    items: {
      oneOf: [AcceptedResultDto, DuplicateResultDto, ErrorResultDto].map((dto) => ({ $ref: getSchemaPath(dto) })),
    },
  })
  results!: ItemResultDto[];
}

/** A result as it is answered. `path` is where a batch item stood, empty for a single event. */
export function ingestResultDto(
  result: Pick<StoredResult, 'status' | 'eventId'> | RefusedResult,
  path = '',
): ItemResultDto {
  switch (result.status) {
    case 'accepted':
      return { status: 'accepted', event_id: result.eventId };
    case 'duplicate':
      return { status: 'duplicate', original_event_id: result.eventId };
    case 'error': {
      const { code, message, details } = result.refusal;
      const below = details.map((fault) => ({ ...fault, path: pathBelow(path, fault.path) }));
      return { status: 'error', error_code: code, message, details: below };
    }
  }
}

function pathBelow(parent: string, path: string): string {
  if (parent === '') return path;
  return path === '' || path.startsWith('[') ? `${parent}${path}` : `${parent}.${path}`;
}
