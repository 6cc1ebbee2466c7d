import type { Merge } from '../../../identity/merges.service';

/** How two customers became one, and whether they were parted again. */
export class MergeDto {
  id!: string;

  /** The surviving profile of the customer that lost, at that time. */
  fromProfileId!: string;

  /** The profile that it became a part of. */
  intoProfileId!: string;

  /** The event that named identifiers of both. */
  eventId!: string;

  mergedAt!: Date;

  undoneAt!: Date | null;

  static of({ id, fromProfileId, intoProfileId, eventId, mergedAt, undoneAt }: Merge): MergeDto {
    return { id, fromProfileId, intoProfileId, eventId, mergedAt, undoneAt };
  }
}

export class MergePageDto {
  items!: MergeDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
