import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { assertStream, isTransient } from '../../api/api';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { DataTable } from '../../design/data-table';
import { FilterBar, type FilterField } from '../../design/filter-bar';
import { useFilters, useHrefWith } from '../../design/filters';
import { Notice } from '../../design/notice';
import { Page } from '../../design/page';
import { Empty, Failed, Loading } from '../../design/state-views';
import { OPEN_EVENT } from '../../shell/record-ids';
import { useScope } from '../../shell/session-context';
import { HiddenValues } from './hidden-values';
import { entryHref, LIVE_COLUMNS } from './live-columns';
import { ROWS_MAX, streamAddress, useLiveEvents, type Connection, type LiveRow } from './live-events';
import { LIVE_FILTERS, matches } from './live-filters';
import styles from './live.module.css';

const FIELDS: readonly FilterField[] = [
  { name: 'source', label: 'Source', kind: 'text', placeholder: 'shop.orders' },
  { name: 'eventType', label: 'Event type', kind: 'text', placeholder: 'order_placed' },
  {
    name: 'result',
    label: 'Result',
    kind: 'select',
    options: ['accepted', 'duplicate', 'refused'].map((value) => ({ value, label: value })),
  },
  {
    name: 'family',
    label: 'Family',
    kind: 'select',
    options: ['external', 'cdp'].map((value) => ({ value, label: value })),
  },
];

const FIRST_EVENT = {
  source: 'shop.orders',
  external_event_id: 'order-1',
  type: 'order_placed',
  identity: { type: 'EMAIL', value: 'jane@example.com' },
};

const CONNECTIONS = {
  waiting: { tone: 'warning', text: 'Waiting for another tab' },
  connecting: { tone: 'warning', text: 'Connecting …' },
  open: { tone: 'good', text: 'Live' },
  closed: { tone: 'bad', text: 'Not connected' },
} as const;

/** Every event as it is answered, also those that are refused. */
export function LivePage() {
  return useScope('events:read') ? <LiveEvents /> : <Refusal />;
}

/** The service's own words about the scope that is missing. */
function Refusal() {
  const refusal = useQuery({ queryKey: ['live', 'refusal'], queryFn: () => assertStream('/live') });
  return <Page title="Live events">{refusal.error === null ? <Loading /> : <Failed error={refusal.error} />}</Page>;
}

function LiveEvents() {
  const [filters] = useFilters(LIVE_FILTERS);
  const eventHref = useHrefWith(OPEN_EVENT);
  const { rows, notShown, connection, reconnect } = useLiveEvents(filters);
  // What was shown when it was paused; undefined while it runs. Filters apply to it, too.
  const [paused, setPaused] = useState<readonly LiveRow[]>();
  const shown = paused?.filter((row) => matches(filters, row)) ?? rows;
  return (
    <Page
      title="Live events"
      actions={
        <>
          <State connection={connection} />
          <Button onClick={() => setPaused(paused === undefined ? rows : undefined)}>
            {paused === undefined ? 'Pause' : `Continue${heldText(rows, paused)}`}
          </Button>
        </>
      }
    >
      <FilterBar fields={FIELDS} />
      <HiddenValues />
      {connection === 'closed' && <NotConnected address={streamAddress(filters)} onReconnect={reconnect} />}
      {notShown > 0 && (
        <p className={styles['note']} role="status">
          {notShown.toLocaleString()} more events were counted but not sent, because too many came at once.
        </p>
      )}
      {shown.length === 0 ? (
        <Nothing connection={connection} />
      ) : (
        <DataTable
          label="Live events"
          columns={LIVE_COLUMNS}
          rows={shown}
          rowKey={({ key }) => String(key)}
          rowHref={({ eventId, entryId }) => (eventId === null ? entryHref(entryId) : eventHref(eventId))}
        />
      )}
    </Page>
  );
}

interface NotConnectedProps {
  readonly address: string;
  readonly onReconnect: () => void;
}

const RETRY_MS = 10_000;

/** Why the service gives no stream, and the way to ask for it again. What may pass is asked again by itself. */
function NotConnected({ address, onReconnect }: NotConnectedProps) {
  const refusal = useQuery({
    queryKey: ['live', 'refusal', address],
    queryFn: () => assertStream(address),
    gcTime: 0,
    // Somebody may only look at the page: a service that starts again, or a proxy before it, refuses for a while.
    refetchInterval: ({ state }) => isTransient(state.error) && RETRY_MS,
    refetchIntervalInBackground: true,
  });
  const { isSuccess } = refusal;
  useEffect(() => {
    if (!isSuccess) return undefined;
    const timer = setTimeout(onReconnect, RETRY_MS);
    return () => clearTimeout(timer);
  }, [isSuccess, onReconnect]);
  if (refusal.error !== null) return <Failed error={refusal.error} onRetry={onReconnect} />;
  return (
    <p>
      <Button onClick={onReconnect}>Connect again</Button>
    </p>
  );
}

function State({ connection }: { readonly connection: Connection }) {
  const { tone, text } = CONNECTIONS[connection];
  return (
    <span role="status" className={styles['state']}>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

function heldText(rows: readonly LiveRow[], paused: readonly LiveRow[]): string {
  const upTo = paused[0]?.key ?? 0;
  const held = rows.filter(({ key }) => key > upTo).length;
  return held === 0 ? '' : ` (${held === ROWS_MAX ? `${ROWS_MAX} or more` : held} new)`;
}

function Nothing({ connection }: { readonly connection: Connection }) {
  if (connection === 'waiting') {
    return (
      <Notice tone="warning">
        <p>
          Other tabs of this browser show live events already, as many as it has connections for. Close one of them:
          this page goes on by itself then.
        </p>
      </Notice>
    );
  }
  return (
    <Empty title="Waiting for events">
      <p>An event is shown as soon as it is answered. Send one:</p>
      <Curl method="POST" path="/v1/external-events" body={FIRST_EVENT} />
    </Empty>
  );
}
