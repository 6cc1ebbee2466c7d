import type { Schema } from '../../api/api-types';
import { Badge, type Tone } from '../../design/badge';
import { DataTable, type Column } from '../../design/data-table';
import { Stack } from '../../design/layout';
import { Empty } from '../../design/state-views';
import { visibleText } from '../../design/visible-text';
import { EventId } from '../../shell/record-ids';
import styles from './campaigns.module.css';
import { ValueText } from './values';

type RehearsedEvent = Schema<'RehearsedEventDto'>;
type Outcome = Schema<'ReactionOutcomeDto'>['outcome'];

const OUTCOMES: Readonly<Record<Outcome, readonly [word: string, tone: Tone]>> = {
  applied: ['applied', 'good'],
  skipped: ['skipped', 'neutral'],
  waiting_for_customer: ['waiting for customer', 'warning'],
  failed: ['failed', 'bad'],
};

export function OutcomeBadge({ outcome }: { readonly outcome: Outcome }) {
  const [word, tone] = OUTCOMES[outcome];
  return <Badge tone={tone}>{word}</Badge>;
}

const COLUMNS: readonly Column<RehearsedEvent>[] = [
  {
    id: 'event',
    header: 'Event',
    cell: ({ eventId }) => (eventId === null ? '–' : <EventId id={eventId} />),
  },
  { id: 'outcome', header: 'Outcome', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { id: 'why', header: 'Why', cell: (event) => <Why event={event} />, grow: true },
  { id: 'changes', header: 'Changes', cell: ({ changes }) => <Changes changes={changes} /> },
];

export function RehearsalResult({ rehearsal: { items, omitted } }: { readonly rehearsal: Schema<'RehearsalDto'> }) {
  if (items.length === 0) return <Empty title="There is no stored event of this type" />;
  return (
    <Stack>
      <p role="status">{summaryOf(items, omitted)}</p>
      <DataTable label="Result of the test" columns={COLUMNS} rows={items} rowKey={keyOf} />
    </Stack>
  );
}

/** The same event may be asked for twice. */
function keyOf(event: RehearsedEvent): string {
  return event.eventId ?? JSON.stringify(event);
}

function summaryOf(items: readonly RehearsedEvent[], omitted: number): string {
  const matched = items.filter((each) => each.matched).length;
  const applied = items.filter(({ outcome }) => outcome === 'applied').length;
  const rest =
    omitted === 0 ? '' : ` ${omitted} were left out: the request took too long, or the answer was too large.`;
  return `${matched} of ${items.length} events match; ${applied} would be applied.${rest}`;
}

function Why({ event: { why, faults } }: { readonly event: RehearsedEvent }) {
  return (
    <div className={styles['why']}>
      {why.path !== '' && (
        <>
          <code>{visibleText(why.path)}</code>{' '}
        </>
      )}
      {visibleText(why.message.startsWith(why.path) ? why.message.slice(why.path.length).trim() : why.message)}
      {faults.map(({ path, message }, index) => (
        <p key={index}>
          <code>{visibleText(path)}</code> {visibleText(message)}
        </p>
      ))}
    </div>
  );
}

function Changes({ changes }: Pick<RehearsedEvent, 'changes'>) {
  return (
    <ul className={styles['changes']}>
      {changes.map(({ path, previous, current }) => (
        <li key={path}>
          {visibleText(path.replace(/^state\./, ''))} <ValueText value={previous} /> → <ValueText value={current} />
        </li>
      ))}
    </ul>
  );
}
