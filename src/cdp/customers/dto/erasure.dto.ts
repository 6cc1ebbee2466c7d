import { ApiProperty } from '@nestjs/swagger';
import type { FinishedErasure } from '../erasures.service';

/** A person of whom nothing is left. */
export class ErasureDto {
  /** The surviving profile of the customer, whose id is not found any more. */
  profileId!: string;

  erasedAt!: Date;

  static of({ profileId, erasedAt }: FinishedErasure): ErasureDto {
    return { profileId, erasedAt };
  }
}

export class LiftedErasureDto {
  /** `not_erased`: nobody was erased who had this identifier, or it was lifted before. */
  @ApiProperty({ enum: ['lifted', 'not_erased'] })
  status!: 'lifted' | 'not_erased';
}
