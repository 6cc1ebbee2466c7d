import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api';
import { useRead } from '../../api/queries';
import { useLateNavigation } from '../../design/action';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { ConfirmDialog, Dialog } from '../../design/dialog';
import { JsonView } from '../../design/json-view';
import { Inline, Muted } from '../../design/layout';
import { Page, Properties, Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { showToast } from '../../design/toast';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { ChangeIssuer, readIssuersAgain } from './change-issuer';
import { CredentialLink } from './credential-link';
import type { JwtIssuer } from './issuer-fields';
import { KEY_SOURCE_LABELS } from './issuers-tab';

export function IssuerPage({ id }: { readonly id: string }) {
  const query = useRead('/v1/jwt-issuers/{id}', { path: { id } });
  const title = query.data === undefined ? 'JWT issuer' : visibleText(query.data.issuer);
  return (
    <Page
      title={title}
      back={{ href: '/access?tab=issuers', label: 'All JWT issuers' }}
      actions={query.data && <IssuerActions issuer={query.data} />}
    >
      <Loaded query={query}>
        {(issuer) => (
          <>
            <IssuerProperties issuer={issuer} />
            {issuer.jwks !== null && (
              <Section title="Key set">
                <JsonView value={issuer.jwks} what="key set" />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function IssuerProperties({ issuer }: { readonly issuer: JwtIssuer }) {
  const { id, audience, algorithms, keySource, jwksUri, claims, defaultCampaignId, allowedCampaignIds } = issuer;
  return (
    <Properties
      entries={[
        ['Audience', visibleText(audience)],
        ['Keys', KEY_SOURCE_LABELS[keySource]],
        ['Address of keys', jwksUri === null ? '–' : visibleText(jwksUri)],
        ['Algorithms', algorithms.join(', ')],
        ['Default campaign', defaultCampaignId ?? '–'],
        ['Allowed campaigns', allowedCampaignIds?.join(', ') ?? 'all'],
        ['Campaign claim', visibleText(claims.campaign)],
        ['App claim', visibleText(claims.app)],
        ['Clock tolerance', `${issuer.clockToleranceSeconds} s`],
        ['Created', <Time at={issuer.createdAt} exact />],
        ['Created by', <CredentialLink id={issuer.createdBy} />],
        ['Id', <CopyableId id={id} what="issuer id" />],
      ]}
    />
  );
}

function IssuerActions({ issuer }: { readonly issuer: JwtIssuer }) {
  const client = useQueryClient();
  const navigate = useLateNavigation();
  const [open, setOpen] = useState<'change' | 'delete'>();
  const close = (): void => setOpen(undefined);
  if (!useScope('jwt-issuers:write')) return null;
  return (
    <Inline>
      <Button onClick={() => setOpen('change')}>Change</Button>
      <Button kind="danger" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      <Dialog title="Change the JWT issuer" open={open === 'change'} onClose={close} wide>
        <Muted>
          The issuer {visibleText(issuer.issuer)} and its audience {visibleText(issuer.audience)} stay. The change is in
          force within a second.
        </Muted>
        <ChangeIssuer issuer={issuer} onClose={close} />
      </Dialog>
      <ConfirmDialog
        title="Delete this issuer?"
        open={open === 'delete'}
        onClose={close}
        action="Delete issuer"
        typed={issuer.id.slice(-4)}
        onConfirm={async () => {
          await api.delete('/v1/jwt-issuers/{id}', { path: { id: issuer.id } });
          showToast({ title: 'The issuer is deleted.' });
          navigate('/access?tab=issuers');
          await readIssuersAgain(client);
        }}
      >
        <p>
          Tokens of {visibleText(issuer.issuer)} for {visibleText(issuer.audience)} are refused within a second.
          Participants who have one can no longer read or change their state. Type the last four characters of its id,{' '}
          <code>{issuer.id}</code>.
        </p>
      </ConfirmDialog>
    </Inline>
  );
}
