import { Link } from 'wouter';
import { useList } from '../../api/queries';
import type { Schema } from '../../api/api-types';
import { Badge } from '../../design/badge';
import { Curl } from '../../design/code-block';
import { CopyableId } from '../../design/copyable-id';
import { PagedTable, type Column } from '../../design/data-table';
import { Section } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { CreateCredential } from './create-credential';
import { Used } from './keys-tab';

export type ServiceCredential = Schema<'ServiceCredentialDto'>;

const COLUMNS: readonly Column<ServiceCredential>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name }) => <Link href={hrefOf(id)}>{visibleText(name)}</Link>,
    grow: true,
  },
  { id: 'id', header: 'keyid', cell: ({ id }) => <CopyableId id={id} what="keyid" /> },
  { id: 'algorithm', header: 'Algorithm', cell: ({ algorithm }) => algorithm },
  { id: 'state', header: 'State', cell: ({ state }) => <CredentialState state={state} /> },
  { id: 'used', header: 'Last used', cell: ({ lastUsedAt }) => <Used at={lastUsedAt} /> },
  { id: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Credentials of systems that sign their requests instead of sending a key. */
export function CredentialsTab() {
  const list = useList('/v1/service-credentials', {});
  const mayWrite = useScope('service-credentials:write');
  return (
    <Section title="Service credentials" actions={mayWrite && <CreateCredential />}>
      <PagedTable
        label="List of service credentials"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        rowHref={({ id }) => hrefOf(id)}
        empty={<NoCredentials />}
      />
    </Section>
  );
}

export function CredentialState({ state }: { readonly state: ServiceCredential['state'] }) {
  return <Badge tone={state === 'ACTIVE' ? 'good' : 'neutral'}>{state}</Badge>;
}

function NoCredentials() {
  return (
    <Empty title="There is no service credential yet">
      <p>A system that signs its external events (RFC 9421) needs one. Others use an API key.</p>
      <Curl method="POST" path="/v1/service-credentials" body={{ name: 'web shop', algorithm: 'hmac-sha256' }} />
    </Empty>
  );
}

function hrefOf(id: string): string {
  return `/access/credentials/${id}`;
}
