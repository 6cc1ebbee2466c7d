import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { IsObject, IsOptional } from 'class-validator';
import {
  AcceptedResultDto,
  DuplicateResultDto,
  ErrorResultDto,
  type ItemResultDto,
} from '../../ingest/dto/ingest-result.dto';
import { ReviewEntryDto } from '../../review/dto/review-entry.dto';

export class ReplayDto {
  /** The event in the form of its family, corrected, with the source and the event id that the entry has; absent: as it came. */
  @IsOptional()
  @IsObject()
  @ApiProperty({ type: 'object', additionalProperties: true })
  payload?: Record<string, unknown>;
}

/** What has become of the event, and of the entry. */
@ApiExtraModels(AcceptedResultDto, DuplicateResultDto, ErrorResultDto)
export class ReplayedDto {
  @ApiProperty({
    oneOf: [AcceptedResultDto, DuplicateResultDto, ErrorResultDto].map((dto) => ({ $ref: getSchemaPath(dto) })),
  })
  outcome!: ItemResultDto;

  reviewEntry!: ReviewEntryDto;
}
