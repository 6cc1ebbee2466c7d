import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useRead } from '../../api/queries';
import { hasScope } from '../../api/session';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { Page, Properties } from '../../design/page';
import { Failed, Loaded } from '../../design/state-views';
import { Tabs } from '../../design/tabs';
import { Time } from '../../design/time';
import { useScope, useSession } from '../../shell/session-context';
import { CampaignStates } from './campaign-states';
import { CustomerActions } from './customer-actions';
import { Identifiers } from './identifiers';
import { Merges } from './merges';
import { Timeline } from './timeline';

type Profile = Schema<'ProfileDto'>;

interface Unmasked {
  /** The identifiers as they were shown when the others were asked for. */
  readonly masked: Profile['identifiers'];
  readonly profile: Profile;
}

/** One customer: who it is, what happened, the state of campaigns, merges. */
export function CustomerPage({ id }: { readonly id: string }) {
  const query = useRead('/v1/cdp/profiles/{id}', { path: { id } });
  return (
    <Page
      title="Customer"
      back={{ href: '/customers', label: 'All customers' }}
      actions={query.data && <CustomerActions id={query.data.id} />}
    >
      <Loaded query={query}>{(profile) => <CustomerView profile={profile} askedFor={id} />}</Loaded>
    </Page>
  );
}

function CustomerView({ profile, askedFor }: { readonly profile: Profile; readonly askedFor: string }) {
  const { id, firstSeenAt, lastSeenAt, eventCount, eventsExpired, mergedFrom } = profile;
  const [unmasked, setUnmasked] = useState<Unmasked>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const mayUnmask = useScope('pii:read');
  const mayAudit = useMayAudit();
  // An undone merge takes identifiers away.
  const shown = unmasked?.masked === profile.identifiers ? unmasked.profile : undefined;
  const unmask = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    const options = { path: { id }, query: { unmask: 'true' } } as const;
    const show = (read: Profile): void => setUnmasked({ masked: profile.identifiers, profile: read });
    await api.get('/v1/cdp/profiles/{id}', options).then(show, setError);
    setBusy(false);
  };
  return (
    <>
      {askedFor !== id && (
        <p role="status">
          The customer {askedFor} was merged into this one.{' '}
          <Link href={`/customers/${id}?tab=merges`}>See its merges</Link>
        </p>
      )}
      <Properties
        entries={[
          ['Customer', <CopyableId key="id" id={id} what="customer id" />],
          [
            'Events',
            `${eventCount.toLocaleString()}${eventsExpired > 0 ? `, and ${eventsExpired.toLocaleString()} expired` : ''}`,
          ],
          ['First seen', <Time key="first" at={firstSeenAt} />],
          ['Last seen', <Time key="last" at={lastSeenAt} />],
          ['Identifiers', <Identifiers key="identifiers" profile={shown ?? profile} />],
          [
            'Merged from',
            mergedFrom.length === 0
              ? '–'
              : `${mergedFrom.length.toLocaleString()} ${mergedFrom.length === 1 ? 'profile' : 'profiles'}`,
          ],
        ]}
      />
      {mayUnmask && (
        <p>
          <Button busy={isBusy} onClick={() => (shown === undefined ? void unmask() : setUnmasked(undefined))}>
            {shown === undefined ? 'Show personal data' : 'Hide personal data'}
          </Button>
        </p>
      )}
      {error !== undefined && <Failed error={error} />}
      {mayAudit && (
        <p>
          <Link href={`/access?tab=audit&recordId=${id}`}>Who has seen this customer’s data</Link>
        </p>
      )}
      <Tabs
        label="Parts of the customer"
        tabs={[
          { id: 'timeline', label: 'Timeline', content: <Timeline id={id} isUnmasked={shown !== undefined} /> },
          {
            id: 'state',
            label: 'State per campaign',
            content: <CampaignStates profile={profile} sub={subjectOf(shown)} />,
          },
          { id: 'merges', label: 'Merges', content: <Merges id={id} /> },
        ]}
      />
    </>
  );
}

/** The scopes that the audit log takes. */
function useMayAudit(): boolean {
  const session = useSession();
  return ['api-keys:read', 'jwt-issuers:read', 'service-credentials:read', 'profiles:read'].every((scope) =>
    hasScope(session, scope),
  );
}

function subjectOf(profile: Profile | undefined): string | undefined {
  return profile?.identifiers.find(({ type }) => type === 'EXTERNAL')?.value;
}
