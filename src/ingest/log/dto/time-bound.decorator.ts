import { QueryText } from '../../../platform/http/query-text.decorator';
import { TIMESTAMP_CHARACTERS_MAX } from '../../domain/event';

/** An end of a range of times in a query class, which `parseTimeRange` reads: `@TimeBound() from?: string`. */
export function TimeBound(): PropertyDecorator {
  return QueryText(TIMESTAMP_CHARACTERS_MAX, 'date-time');
}
