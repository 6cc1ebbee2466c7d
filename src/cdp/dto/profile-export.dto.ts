import { ApiProperty } from '@nestjs/swagger';

/** One line of an export. */
export class ExportedRecordDto {
  /** What the line is about. */
  @ApiProperty({
    enum: ['profile', 'merge', 'event', 'review_entry', 'participant_state', 'mutation_outcome'],
  })
  record!: string;

  /** As the views of such records show it, unmasked. */
  @ApiProperty({ type: 'object', additionalProperties: true })
  data!: object;
}
