import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { Curl } from '../../design/code-block';
import { CopyableId } from '../../design/copyable-id';
import { PagedTable, type Column } from '../../design/data-table';
import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { Identifiers } from './identifiers';
import { LookUp } from './look-up';

const COLUMNS: readonly Column<Schema<'ProfileDto'>>[] = [
  { id: 'identifiers', header: 'Identifiers', cell: (profile) => <Identifiers profile={profile} />, grow: true },
  {
    id: 'id',
    header: 'Customer',
    cell: ({ id }) => <CopyableId id={id} what="customer id" href={`/customers/${id}`} />,
  },
  { id: 'events', header: 'Events', align: 'end', cell: ({ eventCount }) => eventCount.toLocaleString() },
  { id: 'first', header: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
  { id: 'last', header: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
];

/** Finds a customer by an identifier, or among the newest ones. */
export function CustomerSearch() {
  const list = useList('/v1/cdp/profiles', {});
  return (
    <Page title="Customers">
      <LookUp />
      <PagedTable
        label="Customers, newest first"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        rowHref={({ id }) => `/customers/${id}`}
        empty={<NoCustomers />}
      />
    </Page>
  );
}

function NoCustomers() {
  return (
    <Empty title="There are no customers yet">
      <p>A customer is made with the first event that names one. Send an event:</p>
      <Curl
        method="POST"
        path="/v1/external-events"
        body={{
          source: 'shop.orders',
          external_event_id: 'order-4711',
          type: 'purchase',
          identity: { type: 'EMAIL', value: 'jane@example.com' },
          attributes: { amount: 29.33 },
        }}
      />
    </Empty>
  );
}
