import type { Merge } from '../../../identity/domain/split-customer';

/** A merge of two customers, and when it was undone. */
export class MergeDto {
  id!: string;

  /** The surviving profile of the customer that was merged into the other one, at the time of the merge. */
  fromProfileId!: string;

  /** The surviving profile of the other customer. */
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
