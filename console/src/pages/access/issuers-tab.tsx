import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api';
import { useList } from '../../api/queries';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { Dialog } from '../../design/dialog';
import { Section } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { CredentialLink } from './credential-link';
import { NEW_ISSUER, newIssuerBody, type JwtIssuer } from './issuer-fields';
import { IssuerForm } from './issuer-form';

export const KEY_SOURCE_LABELS: Readonly<Record<JwtIssuer['keySource'], string>> = {
  jwksUri: 'published keys',
  jwks: 'keys given here',
  secret: 'shared secret',
};

const COLUMNS: readonly Column<JwtIssuer>[] = [
  {
    id: 'issuer',
    header: 'Issuer',
    cell: ({ id, issuer }) => <Link href={hrefOf(id)}>{visibleText(issuer)}</Link>,
    grow: true,
  },
  { id: 'audience', header: 'Audience', cell: ({ audience }) => visibleText(audience) },
  { id: 'keys', header: 'Keys', cell: ({ keySource }) => KEY_SOURCE_LABELS[keySource] },
  { id: 'algorithms', header: 'Algorithms', cell: ({ algorithms }) => algorithms.join(', ') },
  { id: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'by', header: 'By', cell: ({ createdBy }) => <CredentialLink id={createdBy} /> },
];

export function IssuersTab() {
  const list = useList('/v1/jwt-issuers', {});
  const mayWrite = useScope('jwt-issuers:write');
  return (
    <Section title="JWT issuers" actions={mayWrite && <AddIssuer />}>
      <PagedTable
        label="List of JWT issuers"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        rowHref={({ id }) => hrefOf(id)}
        empty={<NoIssuers />}
      />
    </Section>
  );
}

function AddIssuer() {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Add issuer
      </Button>
      <Dialog title="Add a JWT issuer" open={isOpen} onClose={() => setOpen(false)} wide>
        <IssuerForm
          action="Add issuer"
          initial={NEW_ISSUER}
          onCancel={() => setOpen(false)}
          onSubmit={async (fields) => {
            await api.post('/v1/jwt-issuers', { body: newIssuerBody(fields) });
            setOpen(false);
            showToast({ title: 'The issuer is registered.', description: 'Its tokens are accepted from now on.' });
            await client.invalidateQueries({ queryKey: ['/v1/jwt-issuers'] });
          }}
        />
      </Dialog>
    </>
  );
}

function NoIssuers() {
  return (
    <Empty title="No issuer is registered yet">
      <p>Participants read and change their state with tokens of your identity provider. Register it first.</p>
      <Curl
        method="POST"
        path="/v1/jwt-issuers"
        body={{
          issuer: 'https://login.example.com/',
          audience: 'campaigns',
          jwksUri: 'https://login.example.com/.well-known/jwks.json',
        }}
      />
    </Empty>
  );
}

function hrefOf(id: string): string {
  return `/access/issuers/${id}`;
}
