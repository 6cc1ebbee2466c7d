import type { FilterValues } from '../../design/filters';
import type { LiveEvent } from './live-events';

export type LiveField = 'source' | 'eventType' | 'result' | 'family';
type ExcludeName = 'excludeSource' | 'excludeEventType' | 'excludeResult';

/** The filters as they stand in the address, and in the request: names separated by commas. */
export const LIVE_FILTERS = [
  'source',
  'eventType',
  'result',
  'family',
  'excludeSource',
  'excludeEventType',
  'excludeResult',
] as const;

export type LiveFilters = FilterValues<(typeof LIVE_FILTERS)[number]>;

/** By which filter a value of the field is left out. */
export const EXCLUDE_NAMES: Readonly<Partial<Record<LiveField, ExcludeName>>> = {
  source: 'excludeSource',
  eventType: 'excludeEventType',
  result: 'excludeResult',
};

/** Whether the service would send this event: a change of the filters counts for what has come before, too. */
export function matches(filters: LiveFilters, event: LiveEvent): boolean {
  return (['source', 'eventType', 'result', 'family'] as const).every((field) => {
    const value = event[field];
    const excludeName = EXCLUDE_NAMES[field];
    const isIncluded = filters[field] === undefined || (value !== null && namesOf(filters[field]).includes(value));
    const isExcluded = excludeName !== undefined && value !== null && namesOf(filters[excludeName]).includes(value);
    return isIncluded && !isExcluded;
  });
}

/** The names of a filter, with one more. */
export function withName(filter: string | undefined, name: string): string {
  return [...new Set([...namesOf(filter), name])].join(',');
}

/** The names of a filter without one; undefined without any. */
export function withoutName(filter: string | undefined, name: string): string | undefined {
  const names = namesOf(filter).filter((each) => each !== name);
  return names.length === 0 ? undefined : names.join(',');
}

export function namesOf(filter: string | undefined): string[] {
  return filter === undefined ? [] : filter.split(',');
}
