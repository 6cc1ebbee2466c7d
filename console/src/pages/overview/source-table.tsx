import { DataTable, type Column } from '../../design/data-table';
import { visibleText } from '../../design/visible-text';
import { totalOf, type SourceCounts } from './ingest-series';
import { Link } from 'wouter';
import { Sparkline } from './sparkline';

const COLUMNS: readonly Column<SourceCounts>[] = [
  { id: 'source', header: 'Source', cell: (row) => <SourceName row={row} />, grow: true },
  { id: 'course', header: 'Over time', cell: ({ series }) => <Sparkline series={series} /> },
  { id: 'accepted', header: 'Accepted', align: 'end', cell: ({ accepted }) => accepted.toLocaleString() },
  { id: 'duplicate', header: 'Duplicate', align: 'end', cell: ({ duplicate }) => duplicate.toLocaleString() },
  { id: 'refused', header: 'Refused', align: 'end', cell: ({ refused }) => refused.toLocaleString() },
  { id: 'share', header: 'Refused, %', align: 'end', cell: (row) => percent(row.refused, totalOf(row)) },
  { id: 'late', header: 'Late', align: 'end', cell: ({ late }) => late.toLocaleString() },
];

/** The answers to each source. Its name leads to its live events. */
export function SourceTable({ rows }: { readonly rows: readonly SourceCounts[] }) {
  return <DataTable label="Answers by source" columns={COLUMNS} rows={rows} rowKey={rowKey} />;
}

function SourceName({ row: { source, isOther } }: { readonly row: SourceCounts }) {
  if (source === null) return <em>Source not readable</em>;
  if (isOther) return <em>All other sources</em>;
  // Live events are filtered by names with commas between them.
  if (source.includes(',')) return visibleText(source);
  return <Link href={`/live?source=${encodeURIComponent(source)}`}>{visibleText(source)}</Link>;
}

function rowKey({ source, isOther }: SourceCounts): string {
  return JSON.stringify([source, isOther]);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : ((part / whole) * 100).toLocaleString(undefined, { maximumFractionDigits: 1 });
}
