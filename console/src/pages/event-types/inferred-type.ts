import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';

export type InferredType = Schema<'InferredEventTypeDto'>;

/** A draft of a type from the newest events that the session's key may see; made once for each visit. */
export function useInferredType(eventType: string): UseQueryResult<InferredType> {
  return useQuery({
    queryKey: ['/v1/cdp/event-types:infer', eventType],
    staleTime: Infinity,
    queryFn: ({ signal }) => api.post('/v1/cdp/event-types:infer', { body: { eventType }, signal }),
  });
}
