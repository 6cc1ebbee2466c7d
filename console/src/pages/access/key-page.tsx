import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useRead } from '../../api/queries';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { ConfirmDialog } from '../../design/dialog';
import { Inline } from '../../design/layout';
import { Page, Properties, Section } from '../../design/page';
import { showSecret } from '../../design/secret-dialog';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { CreateKey } from './create-key';
import type { ApiKey } from './create-key-form';
import { CredentialLink } from './credential-link';
import { KeyAudit } from './key-audit';
import { KeyState } from './key-state';
import { Used } from './keys-tab';

export function KeyPage({ id }: { readonly id: string }) {
  const query = useRead('/v1/api-keys/{id}', { path: { id } });
  return (
    <Page
      title={query.data === undefined ? 'API key' : visibleText(query.data.name)}
      back={{ href: '/access', label: 'All API keys' }}
      actions={query.data && <KeyActions apiKey={query.data} />}
    >
      <Loaded query={query}>
        {(key) => (
          <>
            <KeyProperties apiKey={key} />
            <Section title="Audit trail">
              <KeyAudit id={id} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function KeyProperties({ apiKey }: { readonly apiKey: ApiKey }) {
  const { id, hint, scopes, sources, createdAt, createdBy, lastUsedAt, expiresAt, revokedAt } = apiKey;
  return (
    <Properties
      entries={[
        ['State', <KeyState apiKey={apiKey} />],
        ['Key', <code>{hint}</code>],
        ['Id', <CopyableId id={id} what="key id" />],
        ['Last used', <Used at={lastUsedAt} />],
        ['Expires', expiresAt === null ? 'never' : <Time at={expiresAt} exact />],
        ['Created', <Time at={createdAt} exact />],
        ['Created by', <CredentialLink id={createdBy} />],
        ['Sources', sources === null ? 'all' : visibleText(sources.join(', '))],
        ['Revoked', <Time at={revokedAt} exact />],
        ['Replaced', apiKey.rotatedFrom === null ? '–' : <CredentialLink id={apiKey.rotatedFrom} />],
        ['Replaced by', apiKey.rotatedTo === null ? '–' : <CredentialLink id={apiKey.rotatedTo} />],
        ['Scopes', <Scopes scopes={scopes} />],
      ]}
    />
  );
}

function Scopes({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <Inline>
      {scopes.map((scope) => (
        <Badge key={scope}>{scope}</Badge>
      ))}
    </Inline>
  );
}

function KeyActions({ apiKey: key }: { readonly apiKey: ApiKey }) {
  const client = useQueryClient();
  const mayWrite = useScope('api-keys:write');
  const [asked, setAsked] = useState<'rotate' | 'revoke'>();
  const path = { id: key.id };
  const readAgain = () => client.invalidateQueries();
  const rotate = async (): Promise<void> => {
    const issued = await api.post('/v1/api-keys/{id}:rotate', { path, body: {} });
    const note = <p>The old key is refused from now on.</p>;
    showSecret({ title: 'The new API key', what: 'API key', secret: issued.key, note });
    await readAgain();
  };
  const revoke = async (): Promise<void> => {
    await api.post('/v1/api-keys/{id}:revoke', { path, body: {} });
    showToast({ title: 'The key is revoked.' });
    await readAgain();
  };
  if (!mayWrite) return null;
  return (
    <Inline>
      <CreateKey label="Create a key like this" like={key} />
      {key.state !== 'REVOKED' && <Button onClick={() => setAsked('rotate')}>Rotate</Button>}
      {key.state !== 'REVOKED' && (
        <Button kind="danger" onClick={() => setAsked('revoke')}>
          Revoke
        </Button>
      )}
      <ConfirmDialog
        title="Rotate this key?"
        open={asked === 'rotate'}
        onClose={() => setAsked(undefined)}
        action="Rotate key"
        onConfirm={rotate}
      >
        <p>
          A new key with the same scopes and sources takes the place of {visibleText(key.name)}. The old one ends at
          once: what uses it is refused until it has the new one. So is this console, if you have signed in with it.
        </p>
        <p>
          To change without an interruption, cancel, choose “Create a key like this”, bring the new key to where it is
          needed, and revoke this one when its last use no longer changes.
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        title="Revoke this key?"
        open={asked === 'revoke'}
        onClose={() => setAsked(undefined)}
        action="Revoke key"
        typed={key.hint.slice(-4)}
        onConfirm={revoke}
      >
        <p>
          {visibleText(key.name)} is refused within a second, everywhere and for good. Sessions of this console that
          were signed in with it end, perhaps your own.
        </p>
        <p>
          It is <code>{key.hint}</code>: type its last four characters.
        </p>
      </ConfirmDialog>
    </Inline>
  );
}
