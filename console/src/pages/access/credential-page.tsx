import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useRead } from '../../api/queries';
import { Button } from '../../design/button';
import { CodeBlock } from '../../design/code-block';
import { CopyableId } from '../../design/copyable-id';
import { ConfirmDialog } from '../../design/dialog';
import { Inline } from '../../design/layout';
import { Page, Properties, Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { CredentialLink } from './credential-link';
import { CredentialState, type ServiceCredential } from './credentials-tab';
import { Used } from './keys-tab';

export function CredentialPage({ id }: { readonly id: string }) {
  const query = useRead('/v1/service-credentials/{id}', { path: { id } });
  const title = query.data === undefined ? 'Service credential' : visibleText(query.data.name);
  return (
    <Page
      title={title}
      back={{ href: '/access?tab=credentials', label: 'All service credentials' }}
      actions={query.data?.state === 'ACTIVE' && <Revoke credential={query.data} />}
    >
      <Loaded query={query}>
        {(credential) => (
          <>
            <Properties
              entries={[
                ['State', <CredentialState state={credential.state} />],
                ['keyid', <CopyableId id={id} what="keyid" />],
                ['Algorithm', credential.algorithm],
                ['Last used', <Used at={credential.lastUsedAt} />],
                ['Created', <Time at={credential.createdAt} exact />],
                ['Created by', <CredentialLink id={credential.createdBy} />],
                ['Revoked', <Time at={credential.revokedAt} exact />],
              ]}
            />
            {credential.publicKey !== null && (
              <Section title="Public key">
                <CodeBlock code={credential.publicKey} what="public key" />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Revoke({ credential: { id, name } }: { readonly credential: ServiceCredential }) {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  if (!useScope('service-credentials:write')) return null;
  return (
    <Inline>
      <Button kind="danger" onClick={() => setAsked(true)}>
        Revoke
      </Button>
      <ConfirmDialog
        title="Revoke this service credential?"
        open={isAsked}
        onClose={() => setAsked(false)}
        action="Revoke credential"
        typed={id.slice(-4)}
        onConfirm={async () => {
          await api.post('/v1/service-credentials/{id}:revoke', { path: { id }, body: {} });
          showToast({ title: 'The service credential is revoked.' });
          await client.invalidateQueries();
        }}
      >
        <p>
          Requests signed by {visibleText(name)} are refused within a second, everywhere and for good. Type the last
          four characters of its keyid, <code>{id}</code>.
        </p>
      </ConfirmDialog>
    </Inline>
  );
}
