import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useRead } from '../../api/queries';
import { Curl } from '../../design/code-block';
import { useNow } from '../../design/clock';
import { FilterBar } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Page, Section } from '../../design/page';
import { Empty, Loaded } from '../../design/state-views';
import { IngestChart } from './ingest-chart';
import { beginningOf, bySource, RANGES, seriesOf, type Range } from './ingest-series';
import { SourceTable } from './source-table';
import { WorkFigures } from './work-figures';
import type { Schema } from '../../api/api-types';

const REFRESH_MS = 10_000;
const DEFAULT_RANGE: Range = '24h';
const RANGE_OPTIONS = Object.entries(RANGES).map(([value, { label }]) => ({ value, label }));

const FIRST_EVENT = {
  source: 'shop.orders',
  external_event_id: 'order-1',
  type: 'order_placed',
  identity: { type: 'EMAIL', value: 'jane@example.com' },
  attributes: { amount: 29.33 },
};

export function OverviewPage() {
  const [filters] = useFilters(['range']);
  const range = isRange(filters.range) ? filters.range : DEFAULT_RANGE;
  return (
    <Page title="Overview">
      <WorkFigures />
      <Section title="Ingest">
        <FilterBar
          fields={[{ name: 'range', label: 'Range', kind: 'select', options: RANGE_OPTIONS, initial: DEFAULT_RANGE }]}
        />
        <Statistics key={range} range={range} />
      </Section>
    </Page>
  );
}

/** Of one range: what is shown stays when a new step begins, until its numbers are there. */
function Statistics({ range }: { readonly range: Range }) {
  const fromMs = beginningOf(range, useNow());
  const query = { from: new Date(fromMs).toISOString(), step: RANGES[range].step, groupBy: 'source' } as const;
  const settings = { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData };
  const statistics = useRead('/v1/stats/ingest', { query }, settings);
  return <Loaded query={statistics}>{({ items }) => <Ingest counts={items} range={range} fromMs={fromMs} />}</Loaded>;
}

interface IngestProps {
  readonly counts: readonly Schema<'IngestStatisticsItemDto'>[];
  readonly range: Range;
  readonly fromMs: number;
}

function Ingest({ counts, range, fromMs }: IngestProps) {
  const series = useMemo(() => seriesOf(counts, range, fromMs), [counts, range, fromMs]);
  const sources = useMemo(() => bySource(counts, range, fromMs), [counts, range, fromMs]);
  if (counts.length === 0) {
    return (
      <Empty title="No event has come in this time">
        <p>Send one. It is shown here a moment later.</p>
        <Curl method="POST" path="/v1/external-events" body={FIRST_EVENT} />
      </Empty>
    );
  }
  return (
    <>
      <IngestChart series={series} label={RANGES[range].label} />
      <SourceTable rows={sources} />
    </>
  );
}

function isRange(text: string | undefined): text is Range {
  return text !== undefined && Object.hasOwn(RANGES, text);
}
