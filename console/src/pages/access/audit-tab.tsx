import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { PagedTable, type Column } from '../../design/data-table';
import { FilterBar } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Muted } from '../../design/layout';
import { Section } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { CredentialLink } from './credential-link';

type Entry = Schema<'AuditLogEntryDto'>;

const KIND_LABELS: Readonly<Record<Entry['kind'], string>> = {
  api_key: 'API key',
  jwt_issuer: 'JWT issuer',
  service_credential: 'Service credential',
  webhook: 'Webhook',
  retention: 'Retention',
  unmasked_read: 'Personal data',
  erasure: 'Customer',
};

const ACTION_LABELS: Readonly<Record<Entry['action'], string>> = {
  created: 'created',
  changed: 'changed',
  deleted: 'deleted',
  rotated: 'rotated',
  revoked: 'revoked',
  enabled: 'enabled',
  disabled: 'disabled',
  secret_rotated: 'secret rotated',
  read: 'read',
  exported: 'exported',
  erased: 'erased',
  lifted: 'erasure lifted',
};

const FIELDS = [
  {
    name: 'kind',
    label: 'Kind',
    kind: 'select',
    options: Object.entries(KIND_LABELS).map(([value, label]) => ({ value, label })),
  },
  { name: 'recordId', label: 'Record or customer', kind: 'text', placeholder: 'id' },
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
] as const;

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'at', header: 'When', cell: ({ at }) => <Time at={at} exact /> },
  { id: 'what', header: 'What', cell: ({ kind, action }) => `${KIND_LABELS[kind]} ${ACTION_LABELS[action]}` },
  { id: 'record', header: 'Which', cell: (entry) => <AuditedRecord entry={entry} />, grow: true },
  { id: 'by', header: 'By', cell: ({ by }) => <CredentialLink id={by} /> },
  { id: 'address', header: 'From address', cell: ({ address }) => <code>{address ?? 'the service itself'}</code> },
];

/** Who did what in the workspace. */
export function AuditTab() {
  const [filters] = useFilters(['kind', 'recordId', 'from', 'to']);
  const { kind, ...range } = filters;
  const isFiltered = Object.keys(filters).length > 0;
  const list = useList('/v1/audit-log', { query: { ...range, ...(isKind(kind) ? { kind } : {}) } });
  return (
    <Section title="Audit trail">
      <Muted>
        What was done to keys, issuers, service credentials, webhooks and retention, who has read personal data without
        masks, and who was erased. The id of a customer finds who has seen their data.
      </Muted>
      <FilterBar fields={FIELDS} />
      <PagedTable
        label="What happened"
        columns={COLUMNS}
        list={list}
        rowKey={({ id, action }) => `${id} ${action}`}
        empty={<Empty title={isFiltered ? 'No entry matches' : 'Nothing has happened here yet'} />}
      />
    </Section>
  );
}

function AuditedRecord({ entry: { kind, action, recordId, detail } }: { readonly entry: Entry }) {
  if (kind === 'api_key' && recordId !== null) return <CredentialLink id={recordId} />;
  const text = visibleText(detail ?? recordId ?? '–');
  const folder = FOLDERS[kind];
  if (folder === undefined || recordId === null || action === 'deleted') return <code>{text}</code>;
  return <Link href={`${folder}/${recordId}`}>{text}</Link>;
}

/** Where the records of a kind are shown, as long as they exist. */
const FOLDERS: Readonly<Partial<Record<Entry['kind'], string>>> = {
  jwt_issuer: '/access/issuers',
  service_credential: '/access/credentials',
  webhook: '/webhooks',
};

function isKind(text: string | undefined): text is Entry['kind'] {
  return text !== undefined && Object.hasOwn(KIND_LABELS, text);
}
