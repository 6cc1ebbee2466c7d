import { Link, useLocation } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useList, useRead } from '../../api/queries';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { DataTable, PagedTable, type Column } from '../../design/data-table';
import { OpenForm } from '../../design/open-form';
import { Page, Section } from '../../design/page';
import { isName } from '../../design/path-name';
import { Empty, Failed } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';

const COLUMNS: readonly Column<Schema<'ListedEventTypeDto'>>[] = [
  {
    id: 'name',
    header: 'Event type',
    cell: ({ eventType }) => <Link href={hrefOf(eventType)}>{eventType}</Link>,
  },
  { id: 'description', header: 'Description', cell: ({ description = '' }) => visibleText(description), grow: true },
  {
    id: 'properties',
    header: 'Properties',
    align: 'end',
    cell: ({ properties }) => Object.keys(properties).length.toLocaleString(),
  },
  { id: 'version', header: 'Version', align: 'end', cell: ({ version }) => version },
  { id: 'created', header: 'Published', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'state',
    header: 'State',
    cell: ({ deprecatedAt }) =>
      deprecatedAt === null ? <Badge tone="good">in use</Badge> : <Badge tone="warning">deprecated</Badge>,
  },
];

/** The registered event types, and those that senders use without one. */
export function EventTypeList() {
  const [, navigate] = useLocation();
  const mayWrite = useScope('event-types:write');
  const list = useList('/v1/cdp/event-types', {});
  return (
    <Page
      title="Event types"
      actions={
        mayWrite && (
          <Button kind="primary" onClick={() => navigate('/event-types/_new')}>
            New event type
          </Button>
        )
      }
    >
      <OpenForm label="Event type" button="Open event type" example="purchase" hrefOf={hrefOf} />
      <UnregisteredTypes />
      <Section title="Registered">
        <PagedTable
          label="Event types, newest first"
          columns={COLUMNS}
          list={list}
          rowKey={({ eventType }) => eventType}
          rowHref={({ eventType }) => hrefOf(eventType)}
          empty={<NoEventTypes />}
        />
      </Section>
    </Page>
  );
}

interface UnregisteredType {
  readonly name: string;
  readonly count: number;
}

const UNREGISTERED: readonly Column<UnregisteredType>[] = [
  { id: 'name', header: 'Event type', cell: ({ name }) => visibleText(name), grow: true },
  { id: 'count', header: 'Refused events', align: 'end', cell: ({ count }) => count.toLocaleString() },
  {
    id: 'draft',
    header: 'Action',
    cell: ({ name }) => (
      <Link href={`/event-types/_new?from=${encodeURIComponent(name)}`} aria-label={`Draft ${name} from its events`}>
        Draft
      </Link>
    ),
  },
];

/** Types that the newest refused events name and nobody has registered. Shown to keys that may look at them. */
function UnregisteredTypes() {
  const mayLook = useScope('review:read');
  const query = { reason: 'unregistered_event_type', status: 'open', limit: 200 } as const;
  const { data, error, refetch } = useRead('/v1/review-entries', { query }, { enabled: mayLook });
  const counts = new Map<string, number>();
  for (const { eventType } of data?.items ?? []) {
    if (eventType !== null && isName(eventType)) counts.set(eventType, (counts.get(eventType) ?? 0) + 1);
  }
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (counts.size === 0) return null;
  const rows = [...counts].map(([name, count]) => ({ name, count })).sort((one, other) => other.count - one.count);
  return (
    <Section title="Refused, because they are not registered">
      {data?.nextCursor !== null && <p>Among the newest refused events; there are more.</p>}
      <DataTable
        label="Event types that are not registered"
        columns={UNREGISTERED}
        rows={rows}
        rowKey={({ name }) => name}
      />
    </Section>
  );
}

function NoEventTypes() {
  return (
    <Empty title="No event type is registered">
      <p>
        Events of the CDP family are checked against their type. Write one here, draft it from refused events, or
        register it:
      </p>
      <Curl
        method="POST"
        path="/v1/cdp/event-types"
        body={{
          eventType: 'purchase',
          description: 'A customer bought something',
          properties: { amount: { type: 'number', required: true }, quantity: { type: 'integer' } },
        }}
      />
    </Empty>
  );
}

function hrefOf(name: string): string {
  return `/event-types/${encodeURIComponent(name)}`;
}
