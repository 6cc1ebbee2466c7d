import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api';
import type { Schema } from '../../api/api-types';
import { useRead } from '../../api/queries';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { Page, Properties } from '../../design/page';
import { Failed, Loaded } from '../../design/state-views';
import { Tabs } from '../../design/tabs';
import { Time } from '../../design/time';
import { useScope } from '../../shell/session-context';
import { CampaignStates } from './campaign-states';
import { CustomerActions } from './customer-actions';
import { Identifiers } from './identifiers';
import { Merges } from './merges';
import { Timeline } from './timeline';

type Profile = Schema<'ProfileDto'>;

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
  const [unmasked, setUnmasked] = useState<Profile>();
  const [error, setError] = useState<unknown>();
  const mayUnmask = useScope('pii:read');
  const mayAudit = useScope('api-keys:read');
  const unmask = async (): Promise<void> => {
    setError(undefined);
    const options = { path: { id }, query: { unmask: 'true' } } as const;
    await api.get('/v1/cdp/profiles/{id}', options).then(setUnmasked, setError);
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
          ['Identifiers', <Identifiers key="identifiers" profile={unmasked ?? profile} />],
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
          <Button onClick={() => (unmasked === undefined ? void unmask() : setUnmasked(undefined))}>
            {unmasked === undefined ? 'Show personal data' : 'Hide personal data'}
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
          { id: 'timeline', label: 'Timeline', content: <Timeline id={id} isUnmasked={unmasked !== undefined} /> },
          {
            id: 'state',
            label: 'State per campaign',
            content: <CampaignStates profile={profile} sub={subjectOf(unmasked)} />,
          },
          { id: 'merges', label: 'Merges', content: <Merges id={id} /> },
        ]}
      />
    </>
  );
}

function subjectOf(profile: Profile | undefined): string | undefined {
  return profile?.identifiers.find(({ type }) => type === 'EXTERNAL')?.value;
}
