import type { TimelineSpan } from '../ingest/domain/timeline-range';
import { parseTimestamp, timestampFault } from '../platform/clock/timestamp';
import type { Fault } from '../platform/errors/fault';
import { validationFailed } from '../platform/errors/validation-failed';
import { pageStart } from '../platform/pagination/time-key';
import type { ProfileTimelineQuery } from './dto/profile-timeline.query';

/** The part of a timeline that a query asks for. Throws `validation_failed` with every fault. */
export function timelineSpan({ order = 'desc', from, to, cursor }: ProfileTimelineQuery): TimelineSpan {
  const faults: Fault[] = [];
  const timeOf = (path: string, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    const time = parseTimestamp(text);
    if ('at' in time) return time.at;
    faults.push(timestampFault(time.code, path));
    return undefined;
  };
  const span = { order, from: timeOf('from', from), to: timeOf('to', to) };
  if (faults.length > 0) throw validationFailed(faults);
  return { ...span, after: cursor === undefined ? undefined : pageStart(cursor) };
}
