import { useState } from 'react';
import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { Badge, type Tone } from '../../design/badge';
import { CopyableId } from '../../design/copyable-id';
import { PagedTable, type Column } from '../../design/data-table';
import { FilterBar } from '../../design/filter-bar';
import { useFilters, useHrefWith } from '../../design/filters';
import { Stack } from '../../design/layout';
import { NotAmong } from '../../design/not-among';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { EventId } from '../../shell/record-ids';
import { attemptText, reasonText } from './attempt-text';
import { DeliveryDialog } from './delivery-dialog';

export type Delivery = Schema<'DeliveryDto'>;

const STATES = ['pending', 'delivered', 'failed'] as const;
const TONES: Readonly<Record<Delivery['state'], Tone>> = { pending: 'accent', delivered: 'good', failed: 'bad' };
const REFRESH_MS = 3_000;

export function DeliveryState({ state }: Pick<Delivery, 'state'>) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}

export function Deliveries({ id }: { readonly id: string }) {
  const [{ state, delivery }] = useFilters(['state', 'delivery']);
  const deliveryHref = useHrefWith('delivery');
  const chosen = STATES.find((each) => each === state);
  const [isMoving, setMoving] = useState(false);
  const list = useList(
    '/v1/webhooks/{id}/deliveries',
    { path: { id }, query: chosen === undefined ? {} : { state: chosen } },
    { refetchInterval: isMoving ? REFRESH_MS : false },
  );
  // The open one stays when the filter leaves it out: it is delivered while somebody looks at it.
  const found = list.items.find((each) => each.id === delivery);
  const [last, setLast] = useState<Delivery>();
  if (found !== undefined && found !== last) setLast(found);
  const open = found ?? (last?.id === delivery ? last : undefined);
  const hasPending = list.items.some((each) => each.state === 'pending');
  if (hasPending !== isMoving) setMoving(hasPending);
  return (
    <Stack>
      <FilterBar
        fields={[
          { name: 'state', label: 'State', kind: 'select', options: STATES.map((value) => ({ value, label: value })) },
        ]}
      />
      <PagedTable
        label="List of deliveries"
        columns={COLUMNS}
        list={list}
        rowKey={(each) => each.id}
        rowHref={(each) => deliveryHref(each.id)}
        empty={<NoDeliveries isFiltered={chosen !== undefined} />}
      />
      {delivery !== undefined && open === undefined && <NotAmong what="delivery" list={list} />}
      <DeliveryDialog webhookId={id} delivery={open} hasLeft={found === undefined} />
    </Stack>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { id: 'kind', header: 'What', cell: ({ kind }) => kind },
  { id: 'id', header: 'Id', cell: (delivery) => <SubjectId delivery={delivery} /> },
  { id: 'state', header: 'State', cell: ({ state }) => <DeliveryState state={state} /> },
  { id: 'last', header: 'Last attempt', cell: lastAttempt, grow: true },
  { id: 'attempts', header: 'Attempts', cell: (delivery) => <Attempts delivery={delivery} />, align: 'end' },
  { id: 'created', header: 'Queued', cell: ({ createdAt }) => <Time at={createdAt} exact /> },
  { id: 'done', header: 'Done', cell: ({ doneAt }) => <Time at={doneAt} exact /> },
];

/** The event that is sent; a change has no page of its own. */
export function SubjectId({ delivery: { kind, id } }: { readonly delivery: Pick<Delivery, 'kind' | 'id'> }) {
  return kind === 'event' ? <EventId id={id} /> : <CopyableId id={id} what="change id" />;
}

function lastAttempt({ attempts, reason }: Delivery): string {
  const last = attempts.at(-1);
  if (reason !== null) return reasonText(reason);
  return last === undefined ? 'not tried yet' : attemptText(last);
}

/** Opens the delivery. */
function Attempts({ delivery: { id, attemptCount } }: { readonly delivery: Delivery }) {
  const deliveryHref = useHrefWith('delivery');
  const words = `${attemptCount} ${attemptCount === 1 ? 'attempt' : 'attempts'}`;
  return (
    <Link href={deliveryHref(id)} aria-label={`Show ${words}`}>
      {attemptCount}
    </Link>
  );
}

function NoDeliveries({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No delivery is in this state" />;
  return (
    <Empty title="Nothing was delivered yet">
      <p>What fits a rule from now on is. Send a test call to see whether the receiver answers.</p>
    </Empty>
  );
}
