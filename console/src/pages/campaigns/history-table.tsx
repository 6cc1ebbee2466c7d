import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import type { PagedList } from '../../api/queries';
import { PagedTable, type Column } from '../../design/data-table';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { EventId } from '../../shell/record-ids';
import styles from './campaigns.module.css';
import { ValueText } from './values';

export type HistoryEntry = Schema<'HistoryEntryDto'>;

const COLUMNS: readonly Column<HistoryEntry>[] = [
  { id: 'at', header: 'When', cell: ({ at }) => <Time at={at} exact /> },
  {
    id: 'path',
    header: 'Variable',
    cell: ({ scope, name }) => (
      <code>
        {scope}.{name}
      </code>
    ),
  },
  {
    id: 'change',
    header: 'Change',
    cell: ({ op, previous, current }) => (
      <span className={styles['change']}>
        {op} <ValueText value={previous} /> → <ValueText value={current} />
      </span>
    ),
  },
  { id: 'cause', header: 'Cause', cell: ({ cause }) => <Cause cause={cause} />, grow: true },
  { id: 'period', header: 'Period from', cell: ({ periodStart }) => <Time at={periodStart} exact /> },
];

interface HistoryTableProps {
  readonly list: PagedList<HistoryEntry>;
  readonly empty: ReactNode;
}

export function HistoryTable({ list, empty }: HistoryTableProps) {
  const keys = keysOf(list.items);
  return (
    <PagedTable label="Changes" columns={COLUMNS} list={list} rowKey={(entry) => keys.get(entry) ?? ''} empty={empty} />
  );
}

/** Entries have no id. Those of one mutation may be alike, as when it adds and takes away twice: they are numbered. */
function keysOf(entries: readonly HistoryEntry[]): ReadonlyMap<HistoryEntry, string> {
  const counts = new Map<string, number>();
  return new Map(
    entries.map((entry) => {
      const text = JSON.stringify(entry);
      const count = (counts.get(text) ?? 0) + 1;
      counts.set(text, count);
      return [entry, `${text} ${count}`];
    }),
  );
}

function Cause({ cause }: { readonly cause: HistoryEntry['cause'] }) {
  const { kind, mutationId, actor, campaignId, reaction, eventId } = cause;
  return (
    <>
      {kind}{' '}
      {reaction !== undefined && campaignId !== undefined && (
        <Link href={`/campaigns/${encodeURIComponent(campaignId)}/reactions/${encodeURIComponent(reaction)}`}>
          {reaction}
        </Link>
      )}
      {mutationId !== undefined && <code>{visibleText(mutationId)}</code>}
      {actor !== undefined && <> by {visibleText(actor)}</>}
      {eventId !== undefined && (
        <>
          {' '}
          <EventId id={eventId} />
        </>
      )}
    </>
  );
}
