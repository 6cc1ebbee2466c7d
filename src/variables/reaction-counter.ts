import { Injectable } from '@nestjs/common';

/** How many reactions each of these campaigns has; a campaign without any may be left out. */
export type CountReactions = (tenantId: string, campaignIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;

/** Counts the reactions of campaigns. The feature that stores them registers the function when the application starts. */
@Injectable()
export class ReactionCounter {
  private registered: CountReactions = () => Promise.resolve(new Map());

  register(count: CountReactions): void {
    this.registered = count;
  }

  countOf(tenantId: string, campaignIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.registered(tenantId, campaignIds);
  }
}
