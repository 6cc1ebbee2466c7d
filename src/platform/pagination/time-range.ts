import type { Fault } from '../errors/fault';
import { validationFailed } from '../errors/validation-failed';
import { parseTimestamp } from '../values/timestamp';
import { timestampFault } from '../errors/fault-words';

/** From the one time on, and before the other; epoch milliseconds. An end that is absent is open. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** What `from` and `to` of a query say (contract section 1, times in). Throws `validation_failed` with every fault. */
export function parseTimeRange(query: { readonly from?: string; readonly to?: string }): Required<TimeRange> {
  const faults: Fault[] = [];
  const timeOf = (path: string, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    const time = parseTimestamp(text);
    if ('at' in time) return time.at;
    faults.push(timestampFault(time.code, path));
    return undefined;
  };
  const range = { from: timeOf('from', query.from), to: timeOf('to', query.to) };
  if (faults.length > 0) throw validationFailed(faults);
  return range;
}
