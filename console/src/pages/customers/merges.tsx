import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { PagedTable, type Column } from '../../design/data-table';
import { ConfirmDialog } from '../../design/dialog';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { showToast } from '../../design/toast';
import { CustomerId, EventId } from '../../shell/record-ids';
import { useScope } from '../../shell/session-context';

type Merge = Schema<'MergeDto'>;

/** The merges that made a customer, and the way back. */
export function Merges({ id }: { readonly id: string }) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<Merge>();
  const mayUndo = useScope('profiles:write');
  const list = useList('/v1/cdp/profiles/{id}/merges', { path: { id } });
  const columns: readonly Column<Merge>[] = [
    { id: 'at', header: 'Merged', cell: ({ mergedAt }) => <Time at={mergedAt} /> },
    { id: 'from', header: 'From', cell: ({ fromProfileId }) => <CustomerId id={fromProfileId} /> },
    { id: 'into', header: 'Into', cell: ({ intoProfileId }) => <CustomerId id={intoProfileId} /> },
    {
      id: 'event',
      header: 'Event that named both',
      cell: ({ eventId }) => <EventId id={eventId} />,
    },
    {
      id: 'state',
      header: 'State',
      cell: ({ undoneAt }) =>
        undoneAt === null ? (
          <Badge tone="accent">in force</Badge>
        ) : (
          <>
            <Badge>undone</Badge> <Time at={undoneAt} />
          </>
        ),
    },
    {
      id: 'undo',
      header: 'Action',
      cell: (merge) =>
        mayUndo &&
        merge.undoneAt === null && (
          <Button kind="quiet" onClick={() => setChosen(merge)}>
            Undo
          </Button>
        ),
    },
  ];
  const undo = async (): Promise<void> => {
    if (chosen === undefined) return;
    await api.post('/v1/cdp/merges/{id}:undo', { path: { id: chosen.id }, body: {} });
    showToast({ title: 'The merge is undone.', description: 'They are two customers again.' });
    await client.invalidateQueries({
      predicate: ({ queryKey: [path] }) => String(path).startsWith('/v1/cdp/profiles'),
    });
  };
  return (
    <>
      <PagedTable
        label="Merges"
        columns={columns}
        list={list}
        rowKey={(merge) => merge.id}
        empty={
          <Empty title="Nothing was merged">
            <p>Customers are merged when one event names identifiers of both.</p>
          </Empty>
        }
      />
      <ConfirmDialog
        title="Undo this merge"
        action="Undo merge"
        open={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        onConfirm={undo}
      >
        <p>
          Each of the two customers gets back the identifiers that it had, with the events of these identifiers. They
          never merge by themselves again. This cannot be taken back.
        </p>
      </ConfirmDialog>
    </>
  );
}
