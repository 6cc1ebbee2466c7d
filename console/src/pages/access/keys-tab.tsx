import { useList } from '../../api/queries';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { FilterBar } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Section } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { Link } from 'wouter';
import { useScope } from '../../shell/session-context';
import styles from './access.module.css';
import { CreateKey } from './create-key';
import type { ApiKey } from './create-key-form';
import { KeyState } from './key-state';

const STATES = ['ACTIVE', 'EXPIRED', 'REVOKED'] as const;
const SHOWN_SCOPES_MAX = 1;

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name }) => <Link href={hrefOf(id)}>{visibleText(name)}</Link>,
    grow: true,
  },
  { id: 'hint', header: 'Key', cell: ({ hint }) => <code className={styles['oneLine']}>{hint}</code> },
  { id: 'state', header: 'State', cell: (key) => <KeyState apiKey={key} /> },
  { id: 'scopes', header: 'Scopes', cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  { id: 'used', header: 'Last used', cell: ({ lastUsedAt }) => <Used at={lastUsedAt} /> },
  {
    id: 'expires',
    header: 'Expires',
    cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time at={expiresAt} />),
  },
];

export function KeysTab() {
  const [{ state }] = useFilters(['state']);
  const list = useList('/v1/api-keys', { query: { state: STATES.find((each) => each === state) } as object });
  const mayCreate = useScope('api-keys:write');
  return (
    <Section title="API keys" actions={mayCreate && <CreateKey label="Create key" kind="primary" />}>
      <FilterBar
        fields={[
          { name: 'state', label: 'State', kind: 'select', options: STATES.map((value) => ({ value, label: value })) },
        ]}
      />
      <PagedTable
        label="List of API keys"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        rowHref={({ id }) => hrefOf(id)}
        empty={<NoKeys isFiltered={state !== undefined} />}
      />
    </Section>
  );
}

function NoKeys({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No key is in this state" />;
  return (
    <Empty title="There is no API key yet">
      <p>Create one for each system that sends or reads something.</p>
      <Curl method="POST" path="/v1/api-keys" body={{ name: 'web shop', scopes: ['external-events:write'] }} />
    </Empty>
  );
}

/** The first of them; all of them on hover and on the page of the key. */
function Scopes({ scopes }: Pick<ApiKey, 'scopes'>) {
  const rest = scopes.length - SHOWN_SCOPES_MAX;
  return (
    <span className={styles['oneLine']} title={scopes.join('\n')}>
      {scopes.slice(0, SHOWN_SCOPES_MAX).join(', ')}
      {rest > 0 && ` +${rest}`}
    </span>
  );
}

/** A key that nobody has used is shown as such: it may be forgotten, or not in place yet. */
export function Used({ at }: { readonly at: string | null }) {
  return at === null ? <span>never</span> : <Time at={at} />;
}

function hrefOf(id: string): string {
  return `/access/keys/${id}`;
}
