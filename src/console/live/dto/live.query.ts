import { QueryText } from '../../../platform/http/query-text.decorator';
import { validationFailed } from '../../../platform/errors/validation-failed';
import type { Fault } from '../../../platform/errors/fault';
import { enumFault } from '../../../platform/errors/fault-words';
import { EVENT_FAMILIES } from '../../../ingest/domain/submission';
import { LIVE_RESULTS } from '../domain/live-event';
import type { LiveFilter } from '../domain/live-filter';

/** Of each list. */
const NAMES_MAX = 20;
/** Of names and of the commas between them. */
const LIST_CHARACTERS_MAX = 2_600;

/** Names separated by commas; a name with a comma cannot be filtered by. */
export class LiveQuery {
  @QueryText(LIST_CHARACTERS_MAX)
  source?: string;

  @QueryText(LIST_CHARACTERS_MAX)
  eventType?: string;

  @QueryText(LIST_CHARACTERS_MAX)
  result?: string;

  @QueryText(LIST_CHARACTERS_MAX)
  family?: string;

  @QueryText(LIST_CHARACTERS_MAX)
  excludeSource?: string;

  @QueryText(LIST_CHARACTERS_MAX)
  excludeEventType?: string;

  @QueryText(LIST_CHARACTERS_MAX)
  excludeResult?: string;
}

type Listed = readonly [string, ReadonlySet<string>];

/** The filter of a query. Throws `validation_failed` with every fault. */
export function liveFilter(query: LiveQuery): LiveFilter {
  const faults: Fault[] = [];
  const listOf = (field: string, parameter: keyof LiveQuery, allowed?: readonly string[]): Listed[] => {
    const names = (query[parameter] ?? '').split(',').filter((name) => name !== '');
    if (names.length > NAMES_MAX) {
      const message = `${parameter} has more than ${NAMES_MAX} names; leave some out.`;
      faults.push({ path: parameter, code: 'too_many_items', message });
    }
    if (allowed !== undefined && names.some((name) => !allowed.includes(name))) {
      faults.push(enumFault(parameter, allowed));
    }
    return names.length === 0 ? [] : [[field, new Set(names)]];
  };
  const include = [
    ...listOf('source', 'source'),
    ...listOf('eventType', 'eventType'),
    ...listOf('result', 'result', LIVE_RESULTS),
    ...listOf('family', 'family', EVENT_FAMILIES),
  ];
  const exclude = [
    ...listOf('source', 'excludeSource'),
    ...listOf('eventType', 'excludeEventType'),
    ...listOf('result', 'excludeResult', LIVE_RESULTS),
  ];
  if (faults.length > 0) throw validationFailed(faults);
  return { include: Object.fromEntries(include), exclude: Object.fromEntries(exclude) };
}
