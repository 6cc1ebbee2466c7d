import { MAX_UUID, NIL_UUID } from '../../platform/values/uuid';
import type { TimeKey } from '../../platform/pagination/time-key';

export type TimelineOrder = 'asc' | 'desc';

/** The requested part of a timeline: from `from`, and before `to`; epoch milliseconds. */
export interface TimelineSpan {
  readonly order: TimelineOrder;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The last event of the page before. */
  readonly after?: TimeKey | undefined;
}

/**
 * The bounds of a page. There is exactly one key at either end: with two conditions on one side, an index scan may begin at
 * the wrong one and walk over everything that earlier pages have shown.
 */
export interface TimelineRange {
  /** The page comes behind this key, in its order. */
  readonly startAt: string;
  readonly startId: string;
  /** Descending: the page's times are not before this one. Ascending: they are before it. */
  readonly end: string;
}

/** The range of a page, of the key of the index on (workspace, profile, time of occurrence, id) (docs/adr/0012). */
export function timelineRange({ order, from, to, after }: TimelineSpan): TimelineRange {
  // No id is the first one: "before (to, first id)" is "before to", and "behind (from, first id)" is "from or later".
  const lower = from === undefined ? undefined : { at: from, id: NIL_UUID };
  const upper = to === undefined ? undefined : { at: to, id: NIL_UUID };
  const cursor = after === undefined ? undefined : { at: after.at.getTime(), id: after.id };
  if (order === 'asc') {
    const start = cursor !== undefined && (lower === undefined || isBefore(lower, cursor)) ? cursor : lower;
    return range(start, '-infinity', NIL_UUID, upper === undefined ? 'infinity' : timeText(upper.at));
  }
  const start = cursor !== undefined && (upper === undefined || isBefore(cursor, upper)) ? cursor : upper;
  return range(start, 'infinity', MAX_UUID, lower === undefined ? '-infinity' : timeText(lower.at));
}

interface Key {
  readonly at: number;
  readonly id: string;
}

function range(start: Key | undefined, otherwiseAt: string, otherwiseId: string, end: string): TimelineRange {
  return start === undefined
    ? { startAt: otherwiseAt, startId: otherwiseId, end }
    : { startAt: timeText(start.at), startId: start.id, end };
}

function isBefore(a: Key, b: Key): boolean {
  return a.at < b.at || (a.at === b.at && a.id < b.id);
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
