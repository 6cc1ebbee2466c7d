import { useSearch } from 'wouter';
import type { CallOptions, Operation } from '../../api/api-types';
import type { Schema } from '../../api/api-types';
import type { SelectOption } from '../../design/field';
import { useFilters } from '../../design/filters';

type ReviewQuery = NonNullable<CallOptions<Operation<'get', '/v1/review-entries'>>['query']>;
export type ReplayFilter = Schema<'ReplayFilterDto'>;

export const REVIEW_FILTERS = ['status', 'stage', 'reason', 'source', 'eventType'] as const;

/** In the address, where no status means open entries. */
const ALL = 'all';

export const STATUSES: readonly SelectOption[] = [
  { value: 'open', label: 'Open' },
  { value: 'replayed', label: 'Replayed' },
  { value: 'dismissed', label: 'Dismissed' },
  { value: 'superseded', label: 'Superseded' },
  { value: ALL, label: 'All' },
];

export const STAGES: readonly SelectOption[] = [
  { value: 'request', label: 'Request' },
  { value: 'authorization', label: 'Authorization' },
  { value: 'validation', label: 'Validation' },
  { value: 'contract', label: 'Contract' },
  { value: 'identity', label: 'Identity' },
  { value: 'processing', label: 'Processing' },
];

export interface ReviewSelection {
  /** What the API is asked for. */
  readonly query: ReviewQuery;
  /** What a bulk replay or dismissal is asked for; undefined where entries are shown that are not open. */
  readonly replayFilter: ReplayFilter | undefined;
  readonly isFiltered: boolean;
  /** The filters as they stand in the address, with a question mark, to give them to the next page. */
  readonly search: string;
}

/** The entries that the address asks for. */
export function useReviewSelection(): ReviewSelection {
  const [{ status = 'open', ...others }] = useFilters(REVIEW_FILTERS);
  const search = useSearch();
  const query = { ...others, ...(status === ALL ? {} : { status }) } as ReviewQuery;
  return {
    query,
    replayFilter: status === 'open' ? (others as ReplayFilter) : undefined,
    isFiltered: Object.keys(others).length > 0,
    search: search === '' ? '' : `?${search}`,
  };
}
