import { useState } from 'react';
import type { Schema } from '../../api/api-types';
import { useList, useRead } from '../../api/queries';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { FilterBar, type FilterField } from '../../design/filter-bar';
import { Page } from '../../design/page';
import { Empty, Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { EventId } from '../../shell/record-ids';
import { useScope } from '../../shell/session-context';
import { BulkDismissalDialog } from './bulk-dismissal-dialog';
import { BulkReplayDialog } from './bulk-replay-dialog';
import { EntryLink } from './entry-link';
import { EntryStatus } from './entry-status';
import { STAGES, STATUSES, useReviewSelection } from './review-filters';
import { ReviewGroups } from './review-groups';

type Entry = Schema<'ReviewEntryDto'>;

/** Problems by group and as a list, by the filters in the address. */
export function ReviewList() {
  const { query, replayFilter, isFiltered, search } = useReviewSelection();
  const [asking, setAsking] = useState<'replay' | 'dismiss'>();
  const mayReplay = useScope('review:write');
  const summary = useRead('/v1/review-entries:summary', { query: statusOf(query) });
  const list = useList('/v1/review-entries', { query });
  const columns: readonly Column<Entry>[] = [
    { id: 'reason', header: 'Reason', cell: (entry) => <EntryLink entry={entry} search={search} /> },
    { id: 'message', header: 'Message', cell: ({ message }) => visibleText(message), grow: true },
    { id: 'type', header: 'Event type', cell: ({ eventType }) => visibleText(eventType ?? '–') },
    { id: 'source', header: 'Source', cell: ({ source }) => visibleText(source ?? '–') },
    { id: 'event', header: 'Event id', cell: (entry) => <SubjectOfEntry entry={entry} /> },
    { id: 'count', header: 'Count', align: 'end', cell: ({ occurrences }) => occurrences.toLocaleString() },
    { id: 'seen', header: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    ...(query.status === undefined ? [STATUS] : []),
  ];
  const close = (): void => setAsking(undefined);
  const canChange = mayReplay && replayFilter !== undefined && list.items.length > 0;
  return (
    <Page
      title="Review"
      actions={
        canChange && (
          <>
            <Button onClick={() => setAsking('dismiss')}>
              {isFiltered ? 'Dismiss all that match' : 'Dismiss all'}
            </Button>
            <Button onClick={() => setAsking('replay')}>{isFiltered ? 'Replay all that match' : 'Replay all'}</Button>
          </>
        )
      }
    >
      <FilterBar fields={FIELDS} />
      {query.status !== undefined && !list.isPending && list.error === null && (
        <Loaded query={summary}>{(counts) => <ReviewGroups counts={counts} />}</Loaded>
      )}
      <PagedTable
        label="Review entries"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        rowHref={({ id }) => `/review/${id}${search}`}
        empty={isFiltered || query.status !== 'open' ? <NoMatch /> : <NothingOpen />}
      />
      {replayFilter !== undefined && (
        <>
          <BulkReplayDialog filter={replayFilter} open={asking === 'replay'} onClose={close} />
          <BulkDismissalDialog filter={replayFilter} open={asking === 'dismiss'} onClose={close} />
        </>
      )}
    </Page>
  );
}

/** The sender's id. It opens the stored event, where the entry is about one. */
function SubjectOfEntry({ entry: { externalEventId, eventId } }: { readonly entry: Entry }) {
  if (eventId !== undefined) return <EventId id={eventId} externalId={externalEventId} />;
  return externalEventId === null ? '–' : <CopyableId id={externalEventId} what="id of the sender" />;
}

const STATUS: Column<Entry> = {
  id: 'status',
  header: 'Status',
  cell: ({ status }) => <EntryStatus status={status} />,
};

const FIELDS: readonly FilterField[] = [
  { name: 'reason', label: 'Reason', kind: 'text', placeholder: 'required' },
  { name: 'eventType', label: 'Event type', kind: 'text', placeholder: 'purchase' },
  { name: 'source', label: 'Source', kind: 'text', placeholder: 'shop.orders' },
  { name: 'stage', label: 'Stage', kind: 'select', options: STAGES },
  { name: 'status', label: 'Status', kind: 'select', options: STATUSES, initial: 'open' },
];

/** The summary counts one status at a time. */
function statusOf({ status }: { status?: Entry['status'] }): { status?: Entry['status'] } {
  return status === undefined ? {} : { status };
}

function NoMatch() {
  return (
    <Empty title="No entry matches">
      <p>Change or clear the filters. Only open entries are listed unless you choose another status.</p>
    </Empty>
  );
}

function NothingOpen() {
  return (
    <Empty title="Nothing to review">
      <p>
        Every event that is refused leaves an entry here, with its faults. <Badge tone="good">0 open</Badge>
      </p>
      <p>To see one, send an event without an identity:</p>
      <Curl
        method="POST"
        path="/v1/external-events"
        body={{ source: 'shop.orders', external_event_id: 'order-4711', type: 'purchase', identity: {} }}
      />
    </Empty>
  );
}
