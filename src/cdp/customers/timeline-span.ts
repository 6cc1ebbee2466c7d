import type { TimelineSpan } from '../../ingest/log/timeline-range';
import { parseTimeRange } from '../../platform/pagination/time-range';
import { pageStart } from '../../platform/pagination/time-key';
import type { ProfileTimelineQuery } from './dto/profile-timeline.query';

/** The part of a timeline that a query asks for. Throws `validation_failed` with every fault. */
export function timelineSpan(query: ProfileTimelineQuery): TimelineSpan {
  const { order = 'desc', cursor } = query;
  return { order, ...parseTimeRange(query), after: cursor === undefined ? undefined : pageStart(cursor) };
}
