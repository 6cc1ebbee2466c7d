import { LRUCache } from 'lru-cache';
import type { Event } from './domain/event';
import { deprecationOf } from './domain/review-problems';

const REMEMBERED_MAX = 10_000;

/**
 * The deprecated types of which this node has seen the warning of the day committed: further events of such a type are
 * stored without asking the review area again. What is forgotten here is asked for once more; the review area keeps one.
 */
export class RecentDeprecationWarnings {
  private readonly recorded = new LRUCache<string, true>({ max: REMEMBERED_MAX });

  has(tenantId: string, eventType: string, receivedAt: number): boolean {
    return this.recorded.has(keyOf(tenantId, eventType, receivedAt));
  }

  add({ tenantId, eventType, receivedAt }: Event): void {
    this.recorded.set(keyOf(tenantId, eventType, receivedAt), true);
  }
}

function keyOf(tenantId: string, eventType: string, receivedAt: number): string {
  return [tenantId, ...deprecationOf(eventType, receivedAt)].join('/');
}
