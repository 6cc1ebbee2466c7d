import { ApiProperty } from '@nestjs/swagger';

/** One line of an export. */
export class ExportedRecordDto {
  /** What the line is about. */
  @ApiProperty({
    enum: ['profile', 'merge', 'event', 'review_entry', 'participant_state', 'mutation_outcome'],
  })
  record!: string;

  /**
   * As the views of such records show it, unmasked.
   * @example { "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04", "source": "shop.orders" }
   */
  @ApiProperty({ type: 'object', additionalProperties: true })
  data!: object;
}
