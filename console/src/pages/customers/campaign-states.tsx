import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { Inline } from '../../design/layout';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';

type State = Schema<'CampaignStateDto'>;

interface CampaignStatesProps {
  readonly profile: Schema<'ProfileDto'>;
  /** The EXTERNAL identifier, once personal data are shown. */
  readonly sub: string | undefined;
}

/** The campaigns in which a customer has values of their own. The EXTERNAL identifier stands in no address before it is shown. */
export function CampaignStates({ profile, sub }: CampaignStatesProps) {
  const list = useList('/v1/cdp/profiles/{id}/campaigns', { path: { id: profile.id } });
  return (
    <PagedTable
      label="State per campaign"
      columns={sub === undefined ? COLUMNS : [...COLUMNS, historyColumn(sub)]}
      list={list}
      rowKey={({ campaignId }) => campaignId}
      empty={<NoStates profile={profile} />}
    />
  );
}

const COLUMNS: readonly Column<State>[] = [
  {
    id: 'campaign',
    header: 'Campaign',
    cell: ({ campaignId }) => <Link href={hrefOf(campaignId)}>{campaignId}</Link>,
  },
  { id: 'values', header: 'Own values', cell: ({ state }) => <Values values={state.user} />, grow: true },
  { id: 'updated', header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

function historyColumn(sub: string): Column<State> {
  return {
    id: 'history',
    header: 'History',
    cell: ({ campaignId }) => (
      <Link
        href={`${hrefOf(campaignId)}?${new URLSearchParams({ tab: 'participants', sub })}`}
        aria-label={`History in ${campaignId}`}
      >
        History
      </Link>
    ),
  };
}

function Values({ values }: { readonly values: State['state']['user'] }) {
  return (
    <Inline>
      {Object.entries(values).map(([name, value]) => (
        <span key={name}>
          {name} <code>{value === null ? '–' : visibleText(JSON.stringify(value))}</code>
        </span>
      ))}
    </Inline>
  );
}

function NoStates({ profile }: Pick<CampaignStatesProps, 'profile'>) {
  if (!profile.identifiers.some(({ type }) => type === 'EXTERNAL')) {
    return (
      <Empty title="This customer takes part in no campaign">
        <p>State belongs to the EXTERNAL identifier of a person, and this customer has none.</p>
      </Empty>
    );
  }
  return (
    <Empty title="This customer has no values in any campaign">
      <p>
        Values come from the participant, from reactions to events, or from your backend, which names the EXTERNAL
        identifier of the customer:
      </p>
      <Curl
        method="POST"
        path="/v1/campaigns/spring-sale/participants/customer-4711/state:mutate"
        body={{ mutation_id: 'welcome-4711', ops: [{ path: 'state.user.points', op: 'inc', value: 10 }] }}
      />
    </Empty>
  );
}

function hrefOf(campaignId: string): string {
  return `/campaigns/${encodeURIComponent(campaignId)}`;
}
