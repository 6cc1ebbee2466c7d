import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries';
import { DataTable, type Column } from '../../design/data-table';
import { FilterBar } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Muted } from '../../design/layout';
import { Section } from '../../design/page';
import { Empty, Failed, Loading } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { AUDIT_KINDS, auditEntries, type AuditEntry } from './audit-entries';
import { CredentialLink } from './credential-link';

const RECORDS_MAX = 200;
const QUERY = { query: { limit: RECORDS_MAX } };

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'at', header: 'When', cell: ({ at }) => <Time at={at} exact /> },
  { id: 'what', header: 'What', cell: ({ kind, action }) => `${kind} ${action}` },
  {
    id: 'subject',
    header: 'Which',
    cell: ({ href, name }) => <Link href={href}>{visibleText(name)}</Link>,
    grow: true,
  },
  { id: 'by', header: 'By', cell: ({ by }) => (by === undefined ? '–' : <CredentialLink id={by} />) },
];

/** What the records of the workspace tell about themselves: the API has a trail for each key, and none for all. */
export function AuditTab() {
  const [{ kind }] = useFilters(['kind']);
  const keys = useRead('/v1/api-keys', QUERY);
  const issuers = useRead('/v1/jwt-issuers', QUERY);
  const credentials = useRead('/v1/service-credentials', QUERY);
  const entries = useMemo(
    () => auditEntries(keys.data?.items ?? [], issuers.data?.items ?? [], credentials.data?.items ?? []),
    [keys.data, issuers.data, credentials.data],
  );
  const shown = entries.filter((entry) => kind === undefined || entry.kind === kind);
  const queries = [keys, issuers, credentials];
  const failed = queries.filter(({ error }) => error !== null);
  return (
    <Section title="Audit trail">
      <Muted>
        Made from the newest {RECORDS_MAX} keys, issuers and credentials each. From where a key was created, rotated or
        revoked, and by whom, stands on the page of the key. Deleted issuers leave no record.
      </Muted>
      <FilterBar
        fields={[
          {
            name: 'kind',
            label: 'Kind',
            kind: 'select',
            options: AUDIT_KINDS.map((value) => ({ value, label: value })),
          },
        ]}
      />
      {failed.map(({ error, refetch }, index) => (
        <Failed key={index} error={error} onRetry={() => void refetch()} />
      ))}
      {content(
        shown,
        queries.some(({ isPending }) => isPending),
      )}
    </Section>
  );
}

function content(entries: readonly AuditEntry[], isPending: boolean): ReactNode {
  if (entries.length > 0) {
    return (
      <DataTable
        label="What happened"
        columns={COLUMNS}
        rows={entries}
        rowKey={({ id, action }) => `${id} ${action}`}
        rowHref={({ href }) => href}
      />
    );
  }
  return isPending ? <Loading /> : <Empty title="Nothing has happened yet" />;
}
