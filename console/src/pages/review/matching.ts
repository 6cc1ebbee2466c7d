import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api } from '../../api/api';
import type { ReplayFilter } from './review-filters';

/** Of a larger number the service tells the total once the replay has begun. */
const COUNTED_MAX = 2_000;
const PAGE_ENTRIES = 200;

export interface Matching {
  readonly count: number;
  /** Whether there are more than `count`. */
  readonly isMore: boolean;
}

/** Counts the open refusals that match a filter: what a bulk replay would send. */
export function useMatching(filter: ReplayFilter, enabled: boolean): UseQueryResult<Matching> {
  return useQuery({
    queryKey: ['/v1/review-entries', 'matching', filter],
    queryFn: ({ signal }) => countMatching(filter, signal),
    enabled,
    staleTime: 0,
  });
}

async function countMatching(filter: ReplayFilter, signal: AbortSignal): Promise<Matching> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const query = {
      ...filter,
      status: 'open',
      limit: PAGE_ENTRIES,
      ...(cursor === undefined ? {} : { cursor }),
    } as const;
    const { items, nextCursor } = await api.get('/v1/review-entries', { query, signal });
    count += items.filter(
      ({ severity, stage, payloadState, eventId }) =>
        // An entry of processing without an event is about a webhook.
        severity === 'error' && (stage === 'processing' ? eventId !== undefined : payloadState !== 'not_kept'),
    ).length;
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined && count < COUNTED_MAX);
  return { count, isMore: cursor !== undefined };
}
