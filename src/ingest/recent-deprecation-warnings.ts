import { LRUCache } from 'lru-cache';
import { deprecationOf } from './domain/warning-entry';
import type { IngestWork } from './store/store-results';

const TOLD_MAX = 10_000;

/**
 * Whose warnings of the day this node has seen committed: all further events of a deprecated type then go their way without
 * asking the review area again. What is forgotten here is only asked for once more; the review area keeps one.
 */
export class RecentDeprecationWarnings {
  private readonly told = new LRUCache<string, true>({ max: TOLD_MAX });

  has(tenantId: string, eventType: string, receivedAt: number): boolean {
    return this.told.has(keyOf(tenantId, eventType, receivedAt));
  }

  add({ tenantId, event, receivedAt }: IngestWork): void {
    this.told.set(keyOf(tenantId, event.eventType, receivedAt), true);
  }
}

function keyOf(tenantId: string, eventType: string, receivedAt: number): string {
  return [tenantId, ...deprecationOf(eventType, receivedAt)].join('/');
}
