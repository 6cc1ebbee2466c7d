import { useList } from '../../api/queries';
import type { Schema } from '../../api/api-types';
import { PagedTable, type Column } from '../../design/data-table';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { CredentialLink } from './credential-link';

const COLUMNS: readonly Column<Schema<'ApiKeyAuditEntryDto'>>[] = [
  { id: 'at', header: 'When', cell: ({ at }) => <Time at={at} exact /> },
  { id: 'action', header: 'What', cell: ({ action }) => action },
  { id: 'by', header: 'By', cell: ({ by }) => <CredentialLink id={by} />, grow: true },
  { id: 'address', header: 'From address', cell: ({ address }) => <code>{address ?? 'the service itself'}</code> },
];

/** What was done to a key, by whom and from where. */
export function KeyAudit({ id }: { readonly id: string }) {
  const list = useList('/v1/api-keys/{id}/audit', { path: { id } });
  return (
    <PagedTable
      label="Audit trail of the key"
      columns={COLUMNS}
      list={list}
      rowKey={({ at, action }) => `${at} ${action}`}
      empty={<Empty title="Nothing was noted for this key" />}
    />
  );
}
