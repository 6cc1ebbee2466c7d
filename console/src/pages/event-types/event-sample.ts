import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api } from '../../api/api';
import { useScope } from '../../shell/session-context';

const SAMPLE_EVENTS = 200;

export interface EventSample {
  /** The properties of recent events, masked as views show them. */
  readonly properties: readonly Readonly<Record<string, unknown>>[];
  readonly refused: number;
  readonly stored: number;
}

/** The newest refused and stored events of a type, as far as the session's key may see them. */
export function useEventSample(eventType: string | undefined): UseQueryResult<EventSample> {
  const mayReview = useScope('review:read');
  const mayRead = useScope('events:read');
  return useQuery({
    queryKey: ['event-sample', eventType, mayReview, mayRead],
    enabled: eventType !== undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const query = { eventType: eventType ?? '', limit: SAMPLE_EVENTS };
      const [entries, events] = await Promise.all([
        mayReview ? api.get('/v1/review-entries', { query: { ...query, status: 'open' }, signal }) : { items: [] },
        mayRead ? api.get('/v1/events', { query: { ...query, family: 'cdp' }, signal }) : { items: [] },
      ]);
      const refused = entries.items.flatMap(({ family, payload, payloadTruncated }) =>
        family === 'cdp' && payloadTruncated !== true ? propertiesOf(payload) : [],
      );
      const stored = events.items.map(({ properties }) => properties);
      return { properties: [...refused, ...stored], refused: refused.length, stored: stored.length };
    },
  });
}

function propertiesOf(payload: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof payload !== 'object' || payload === null || !('properties' in payload)) return [{}];
  const { properties } = payload;
  const isObject = typeof properties === 'object' && properties !== null && !Array.isArray(properties);
  return isObject ? [properties as Readonly<Record<string, unknown>>] : [];
}
