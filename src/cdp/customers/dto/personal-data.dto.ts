import { ApiProperty } from '@nestjs/swagger';
import type { FinishedErasure } from '../domain/customer-view';

/** The erasure of a person. */
export class ErasureDto {
  /** The surviving profile of the customer. Its id is not found any more. */
  profileId!: string;

  erasedAt!: Date;

  static of({ profileId, erasedAt }: FinishedErasure): ErasureDto {
    return { profileId, erasedAt };
  }
}

export class LiftedErasureDto {
  /** `not_erased`: no person with this identifier was erased, or the erasure was lifted before. */
  @ApiProperty({ enum: ['lifted', 'not_erased'] })
  status!: 'lifted' | 'not_erased';
}

/** One line of an export. */
export class ExportedRecordDto {
  /** The kind of the record. */
  @ApiProperty({
    enum: [
      ...['profile', 'merge', 'event', 'named_in_event', 'review_entry', 'participant_state', 'mutation_outcome'],
      ...['value_change', 'webhook_change', 'webhook_delivery'],
    ],
  })
  record!: string;

  /**
   * The record as its view shows it, unmasked.
   * @example { "eventId": "0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04", "source": "shop.orders" }
   */
  @ApiProperty({ type: 'object', additionalProperties: true })
  data!: object;
}
