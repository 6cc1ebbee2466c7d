/** A customer as it is now. */
export interface HeldCustomer {
  readonly rootId: string;
  readonly isErased: boolean;
  readonly externalId: string | null;
  /** Every profile of it, the root first. */
  readonly profileIds: readonly string[];
}
