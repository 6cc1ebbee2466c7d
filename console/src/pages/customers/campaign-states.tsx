import type { Schema } from '../../api/api-types';
import { useRead } from '../../api/queries';
import { Button } from '../../design/button';
import { FilterBar } from '../../design/filter-bar';
import { useFilters } from '../../design/filters';
import { Properties, Section } from '../../design/page';
import { Empty, Loaded } from '../../design/state-views';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import styles from './customers.module.css';

type Profile = Schema<'ProfileDto'>;

interface CampaignStatesProps {
  readonly profile: Profile;
  readonly unmasked: Profile | undefined;
  readonly onUnmask: () => Promise<void>;
}

/**
 * The state of a customer in one campaign. The API finds participants by their EXTERNAL identifier, so that this needs
 * it unmasked; it never stands in the address of the page.
 */
export function CampaignStates({ profile, unmasked, onUnmask }: CampaignStatesProps) {
  const [{ campaign }] = useFilters(['campaign']);
  const mayUnmask = useScope('pii:read');
  const isParticipant = profile.identifiers.some(({ type }) => type === 'EXTERNAL');
  const sub = unmasked?.identifiers.find(({ type }) => type === 'EXTERNAL')?.value;
  if (!isParticipant) {
    return (
      <Empty title="This customer takes part in no campaign">
        <p>State belongs to the EXTERNAL identifier of a person, and this customer has none.</p>
      </Empty>
    );
  }
  return (
    <div className={styles['stack']}>
      <KnownCampaigns id={profile.id} />
      <FilterBar fields={[{ name: 'campaign', label: 'Campaign', kind: 'text', placeholder: 'spring-sale' }]} />
      {campaign === undefined && <p>Choose a campaign, or write its id.</p>}
      {campaign !== undefined && sub === undefined && (
        <>
          <p>
            {mayUnmask
              ? 'State is found by the EXTERNAL identifier of the person. Reading it is recorded by the service.'
              : 'State is found by the EXTERNAL identifier of the person. Your key may not read it: it lacks the scope pii:read.'}
          </p>
          {mayUnmask && (
            <p>
              <Button onClick={() => void onUnmask()}>Show personal data and state</Button>
            </p>
          )}
        </>
      )}
      {campaign !== undefined && sub !== undefined && <CampaignState campaign={campaign} sub={sub} />}
    </div>
  );
}

/** The campaigns that have reacted to the latest events: the API lists no others for a person. */
function KnownCampaigns({ id }: { readonly id: string }) {
  const [{ campaign }, change] = useFilters(['campaign']);
  const { data } = useRead('/v1/cdp/profiles/{id}/events', { path: { id }, query: { limit: 50 } });
  const found = data?.items.flatMap(({ processing }) => processing.reactions.map(({ campaignId }) => campaignId)) ?? [];
  const campaigns = [...new Set(found)].sort((one, other) => one.localeCompare(other));
  if (campaigns.length === 0) return null;
  return (
    <div className={styles['actions']} role="group" aria-label="Campaigns of the latest events">
      {campaigns.map((each) => (
        <Button key={each} aria-pressed={each === campaign} onClick={() => change({ campaign: each })}>
          {visibleText(each)}
        </Button>
      ))}
    </div>
  );
}

function CampaignState({ campaign, sub }: { readonly campaign: string; readonly sub: string }) {
  const path = { campaign_id: campaign, sub };
  const query = useRead('/v1/campaigns/{campaign_id}/participants/{sub}/state', { path });
  return (
    <Loaded query={query}>
      {({ state: { user, campaign: shared, app } }) => (
        <>
          <Values title="Of this person" values={user} />
          <Values title="Of the campaign" values={shared} />
          <Values title="Of the app" values={app} />
        </>
      )}
    </Loaded>
  );
}

type Values = Schema<'ParticipantStateTreeDto'>['user'];

function Values({ title, values }: { readonly title: string; readonly values: Values }) {
  const entries = Object.entries(values);
  return (
    <Section title={title}>
      {entries.length === 0 ? (
        <p>No variables are declared.</p>
      ) : (
        <Properties
          entries={entries.map(([name, value]) => [name, <code key={name}>{visibleText(shown(value))}</code>])}
        />
      )}
    </Section>
  );
}

function shown(value: Values[string]): string {
  return value === null ? 'null' : String(value);
}
