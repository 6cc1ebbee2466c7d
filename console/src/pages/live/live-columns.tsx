import { Link } from 'wouter';
import { Badge } from '../../design/badge';
import { CopyableId } from '../../design/copyable-id';
import type { Column } from '../../design/data-table';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { EventId } from '../../shell/record-ids';
import { FilterValue } from './filter-value';
import type { LiveRow } from './live-events';
import styles from './live.module.css';

const TONES = { accepted: 'good', duplicate: 'neutral', refused: 'bad' } as const;

export const LIVE_COLUMNS: readonly Column<LiveRow>[] = [
  { id: 'at', header: 'Answered', cell: ({ at }) => <Time at={at} exact="time" /> },
  {
    id: 'result',
    header: 'Result',
    cell: ({ result }) => (
      <FilterValue field="result" value={result}>
        <Badge tone={TONES[result]}>{result}</Badge>
      </FilterValue>
    ),
  },
  { id: 'source', header: 'Source', cell: ({ source }) => <FilterValue field="source" value={source} /> },
  {
    id: 'eventType',
    header: 'Event type',
    cell: ({ eventType }) => <FilterValue field="eventType" value={eventType} />,
  },
  { id: 'family', header: 'Family', cell: ({ family }) => <FilterValue field="family" value={family} /> },
  { id: 'id', header: 'Event', cell: (row) => <EventLink row={row} />, grow: true },
  {
    id: 'codes',
    header: 'Codes',
    cell: ({ codes }) =>
      codes.map((code) => (
        <code key={code} className={styles['code']}>
          {visibleText(code)}
        </code>
      )),
  },
];

/** Leads to the stored event, or to the review entry of a refused one. */
function EventLink({ row: { id, eventId, entryId } }: { readonly row: LiveRow }) {
  if (eventId !== null) return <EventId id={eventId} externalId={id} />;
  const href = entryHref(entryId);
  if (id !== null) return <CopyableId id={id} what="id of the sender" {...(href === undefined ? {} : { href })} />;
  return href === undefined ? 'not readable' : <Link href={href}>not readable</Link>;
}

/** The address of a review entry; undefined where a refused event has none. */
export function entryHref(entryId: string | undefined): string | undefined {
  return entryId === undefined ? undefined : `/review/${encodeURIComponent(entryId)}`;
}
