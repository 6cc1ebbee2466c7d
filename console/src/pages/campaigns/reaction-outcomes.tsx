import { useRead } from '../../api/queries';
import type { Schema } from '../../api/api-types';
import { DataTable, type Column } from '../../design/data-table';
import { Muted } from '../../design/layout';
import { Properties, Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { CustomerId, EventId } from '../../shell/record-ids';
import { useScope } from '../../shell/session-context';
import type { Reaction } from './reactions-tab';
import { OutcomeBadge } from './rehearsal-result';

const EVENTS_MAX = 200;
/** The newest ones; the others are counted. */
const ROWS_MAX = 20;
const OUTCOMES = [
  ['applied', 'Applied'],
  ['skipped', 'Skipped'],
  ['waiting_for_customer', 'Waiting'],
  ['failed', 'Failed'],
  [undefined, 'Not met'],
] as const;

interface Met {
  readonly event: Schema<'EventDto'>;
  /** Undefined: it was received before the reaction or while that was off, or is still queued. */
  readonly met: Schema<'ReactionOutcomeDto'> | undefined;
}

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
          const all = items.map((event) => ({ event, met: outcomeOf(event, campaignId, name) }));
          const shown = all.filter(({ met }) => met !== undefined).slice(0, ROWS_MAX);
          return (
            <>
              <Muted>Of the newest {items.length} stored events of its type. Backfills below count their own.</Muted>
              <Properties entries={OUTCOMES.map(([outcome, word]) => [word, countText(all, outcome)] as const)} />
              {shown.length > 0 && (
                <DataTable
                  label="Events that it met, newest first"
                  columns={COLUMNS}
                  rows={shown}
                  rowKey={({ event }) => event.eventId}
                />
              )}
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

const COLUMNS: readonly Column<Met>[] = [
  { id: 'received', header: 'Received', cell: ({ event }) => <Time at={event.receivedAt} exact /> },
  { id: 'event', header: 'Event', cell: ({ event }) => <EventId id={event.eventId} /> },
  { id: 'customer', header: 'Customer', cell: ({ event }) => <CustomerId id={event.profileId} /> },
  { id: 'outcome', header: 'Outcome', cell: ({ met }) => met && <OutcomeBadge outcome={met.outcome} /> },
  { id: 'reason', header: 'Reason', cell: ({ met }) => visibleText(met?.reason ?? '–'), grow: true },
];

function outcomeOf({ processing }: Met['event'], campaignId: string, name: string): Met['met'] {
  return processing.reactions.find((each) => each.campaignId === campaignId && each.name === name);
}

function countText(all: readonly Met[], outcome: Schema<'ReactionOutcomeDto'>['outcome'] | undefined): string {
  return all.filter(({ met }) => met?.outcome === outcome).length.toLocaleString();
}
