import { Link, useLocation } from 'wouter';
import type { CallOptions, Operation, Schema } from '../../api/api-types';
import { useList, type PagedList } from '../../api/queries';
import { Badge, type Tone } from '../../design/badge';
import { PagedTable, type Column } from '../../design/data-table';
import { Dialog } from '../../design/dialog';
import { FilterBar, type FilterField } from '../../design/filter-bar';
import { useFilters, useHrefWith } from '../../design/filters';
import { JsonView } from '../../design/json-view';
import { NotAmong } from '../../design/not-among';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import styles from './customers.module.css';

type CustomerEvent = Schema<'EventDto'>;
type TimelineQuery = NonNullable<CallOptions<Operation<'get', '/v1/cdp/profiles/{id}/events'>>['query']>;

/** The event in the address. */
const SHOWN = 'shown';
const FILTERS = ['eventType', 'source', 'from', 'to', 'order'] as const;
const FIELDS: readonly FilterField[] = [
  { name: 'eventType', label: 'Event type', kind: 'text', placeholder: 'purchase' },
  { name: 'source', label: 'Source', kind: 'text', placeholder: 'shop.orders' },
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
  {
    name: 'order',
    label: 'Order',
    kind: 'select',
    initial: 'desc',
    options: [
      { value: 'desc', label: 'Newest first' },
      { value: 'asc', label: 'Oldest first' },
    ],
  },
];
/** Of long properties the beginning is shown; a click opens the event. */
const PREVIEW_CHARACTERS = 160;

const TONES: Readonly<Record<CustomerEvent['processing']['state'], Tone>> = {
  queued: 'neutral',
  processed: 'good',
  failed: 'bad',
};

/** The events of a customer by the time when they occurred. The event that is open stands in the address. */
export function Timeline({ id, isUnmasked }: { readonly id: string; readonly isUnmasked: boolean }) {
  const [filters] = useFilters(FILTERS);
  const hrefOf = useHrefWith(SHOWN);
  const query = { ...filters, ...(isUnmasked ? { unmask: 'true' } : {}) } as TimelineQuery;
  const list = useList('/v1/cdp/profiles/{id}/events', { path: { id }, query });
  const columns: readonly Column<CustomerEvent>[] = [
    { id: 'at', header: 'Occurred', cell: ({ occurredAt }) => <Time at={occurredAt} exact /> },
    {
      id: 'type',
      header: 'Event type',
      cell: ({ eventId, eventType }) => <Link href={hrefOf(eventId)}>{visibleText(eventType)}</Link>,
    },
    { id: 'source', header: 'Source', cell: ({ source }) => visibleText(source) },
    {
      id: 'properties',
      header: 'Properties',
      grow: true,
      cell: ({ properties }) => <code className={styles['preview']}>{previewOf(properties)}</code>,
    },
    {
      id: 'state',
      header: 'Processing',
      cell: ({ processing: { state } }) => <Badge tone={TONES[state]}>{state}</Badge>,
    },
  ];
  return (
    <div className={styles['stack']}>
      <FilterBar fields={FIELDS} />
      <PagedTable
        label="Timeline"
        columns={columns}
        list={list}
        rowKey={({ eventId }) => eventId}
        rowHref={({ eventId }) => hrefOf(eventId)}
        empty={<NoEvents isFiltered={Object.keys(filters).length > 0} />}
      />
      <ShownEvent list={list} />
    </div>
  );
}

/** All of an event as the timeline has it, which takes no scope for events. */
function ShownEvent({ list }: { readonly list: PagedList<CustomerEvent> }) {
  const [{ [SHOWN]: shownId }] = useFilters([SHOWN]);
  const [, navigate] = useLocation();
  const hrefOf = useHrefWith(SHOWN);
  const event = list.items.find(({ eventId }) => eventId === shownId);
  if (shownId !== undefined && event === undefined) return <NotAmong what="event" list={list} />;
  return (
    <Dialog
      title={event === undefined ? 'Event' : visibleText(event.eventType)}
      open={event !== undefined}
      onClose={() => navigate(hrefOf())}
      wide
    >
      {event !== undefined && <JsonView value={event} what="event" />}
    </Dialog>
  );
}

function NoEvents({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) return <Empty title="No event of this customer is stored any more" />;
  return (
    <Empty title="No event matches">
      <p>Change or clear the filters.</p>
    </Empty>
  );
}

function previewOf(properties: object): string {
  const text = JSON.stringify(properties);
  return visibleText(text.length > PREVIEW_CHARACTERS ? `${text.slice(0, PREVIEW_CHARACTERS)}…` : text);
}
