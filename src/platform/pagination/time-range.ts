import type { Fault } from '../errors/fault';
import { validationFailed } from '../errors/validation-failed';
import { parseTimestamp } from '../values/timestamp';
import { formatFault, timestampFault } from '../errors/fault-words';

/** From the one time on, and before the other; epoch milliseconds. An end that is absent is open. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A plus sign of an offset that was not escaped: in a query it means a space. */
const LOST_PLUS = /^\S{1,40}[Tt]\S{1,40} \d\d(?::?\d\d)?$/;

/** What `from` and `to` of a query say (contract section 1, times in). Throws `validation_failed` with every fault. */
export function parseTimeRange(query: { readonly from?: string; readonly to?: string }): Required<TimeRange> {
  const faults: Fault[] = [];
  const timeOf = (path: string, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    const time = parseTimestamp(text);
    if ('at' in time) return time.at;
    faults.push(LOST_PLUS.test(text) ? lostPlusFault(path) : timestampFault(time.code, path));
    return undefined;
  };
  const range = { from: timeOf('from', query.from), to: timeOf('to', query.to) };
  if (faults.length > 0) throw validationFailed(faults);
  return range;
}

function lostPlusFault(path: string): Fault {
  return formatFault(path, 'is not an ISO 8601 date-time with an offset; write + as %2B in a query');
}
