import { useRead } from '../../api/queries';
import { Properties, Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import type { Schema } from '../../api/api-types';
import { Muted } from '../../design/layout';
import { useScope } from '../../shell/session-context';
import type { Reaction } from './reactions-tab';

const EVENTS_MAX = 200;
const OUTCOMES = [
  ['applied', 'Applied'],
  ['skipped', 'Skipped'],
  ['waiting_for_customer', 'Waiting'],
  ['failed', 'Failed'],
  [undefined, 'Not met'],
] as const;

/** What the reaction did with the newest events of its type: events record it, and the API has no count. */
export function ReactionOutcomes({
  reaction: { campaignId, name, eventType, source },
}: {
  readonly reaction: Reaction;
}) {
  const mayRead = useScope('events:read');
  const query = { eventType, limit: EVENTS_MAX, ...(source === undefined ? {} : { source }) };
  const events = useRead('/v1/events', { query }, { enabled: mayRead });
  if (!mayRead) return null;
  return (
    <Section title="What it did">
      <Loaded query={events}>
        {({ items }) => {
          const counts = countsOf(items, campaignId, name);
          return (
            <>
              <Muted>Of the newest {items.length} stored events of its type. Backfills below count their own.</Muted>
              <Properties
                entries={[...OUTCOMES.map(([outcome, word]) => [word, countText(counts.get(outcome))] as const)]}
              />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function countText(count = 0): string {
  return count.toLocaleString();
}

type Outcome = Schema<'ReactionOutcomeDto'>['outcome'];

/** Undefined counts events that were received before the reaction, while it was off, or that are still queued. */
function countsOf(
  events: readonly Schema<'EventDto'>[],
  campaignId: string,
  name: string,
): ReadonlyMap<Outcome | undefined, number> {
  const counts = new Map<Outcome | undefined, number>();
  for (const { processing } of events) {
    const met = processing.reactions.find((each) => each.campaignId === campaignId && each.name === name);
    counts.set(met?.outcome, (counts.get(met?.outcome) ?? 0) + 1);
  }
  return counts;
}
