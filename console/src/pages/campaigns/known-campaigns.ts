import { useMemo } from 'react';
import { useRead } from '../../api/queries';
import { useScope } from '../../shell/session-context';

const ISSUERS_MAX = 200;
const EVENTS_MAX = 200;

export interface KnownCampaign {
  readonly id: string;
  /** What names it. */
  readonly from: string;
}

/** Campaigns that other records name: the API has no list of campaigns, which exist as soon as something is declared in them. */
export function useKnownCampaigns() {
  const mayReadIssuers = useScope('jwt-issuers:read');
  const mayReadEvents = useScope('events:read');
  const issuers = useRead('/v1/jwt-issuers', { query: { limit: ISSUERS_MAX } }, { enabled: mayReadIssuers });
  const events = useRead('/v1/events', { query: { limit: EVENTS_MAX } }, { enabled: mayReadEvents });
  const campaigns = useMemo(() => {
    const found = new Map<string, Set<string>>();
    const note = (id: string, from: string): void => {
      found.set(id, (found.get(id) ?? new Set<string>()).add(from));
    };
    for (const { defaultCampaignId, allowedCampaignIds } of issuers.data?.items ?? []) {
      for (const id of [defaultCampaignId, ...(allowedCampaignIds ?? [])]) if (id !== null) note(id, 'JWT issuers');
    }
    for (const { processing } of events.data?.items ?? []) {
      for (const { campaignId } of processing.reactions) note(campaignId, 'reactions to recent events');
    }
    const list = [...found].map(([id, from]): KnownCampaign => ({ id, from: [...from].join(', ') }));
    return list.sort((a, b) => (a.id < b.id ? -1 : 1));
  }, [issuers.data, events.data]);
  const queries = [...(mayReadIssuers ? [issuers] : []), ...(mayReadEvents ? [events] : [])];
  return {
    campaigns,
    isPending: queries.some(({ isPending }) => isPending),
    failed: queries.filter(({ error }) => error !== null),
    /** Whether the key may read all that names campaigns. */
    isComplete: mayReadIssuers && mayReadEvents,
  };
}
