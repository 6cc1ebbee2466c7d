import { Link } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { OpenForm } from '../../design/open-form';
import { Page, Section } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';

const COLUMNS: readonly Column<Schema<'CampaignDto'>>[] = [
  {
    id: 'id',
    header: 'Campaign',
    cell: ({ campaignId }) => <Link href={hrefOf(campaignId)}>{campaignId}</Link>,
    grow: true,
  },
  { id: 'variables', header: 'Variables', cell: ({ variables }) => variables.toLocaleString(), align: 'end' },
  { id: 'reactions', header: 'Reactions', cell: ({ reactions }) => reactions.toLocaleString(), align: 'end' },
  { id: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** A campaign begins with its first variable, so that a new one is opened by its id. */
export function CampaignList() {
  const list = useList('/v1/campaigns', {});
  return (
    <Page title="Campaigns">
      <OpenForm label="Campaign id" button="Open campaign" example="spring-sale" hrefOf={hrefOf} />
      <Section title="All campaigns">
        <PagedTable
          label="List of campaigns"
          columns={COLUMNS}
          list={list}
          rowKey={({ campaignId }) => campaignId}
          rowHref={({ campaignId }) => hrefOf(campaignId)}
          empty={<NoCampaigns />}
        />
      </Section>
    </Page>
  );
}

function NoCampaigns() {
  return (
    <Empty title="There is no campaign yet">
      <p>A campaign begins with its first variable. Open it by its id above and define one, or:</p>
      <Curl
        method="POST"
        path="/v1/campaigns/spring-sale/variables:define"
        body={{ scope: 'user', name: 'points', type: 'number', default: 0 }}
      />
    </Empty>
  );
}

function hrefOf(id: string): string {
  return `/campaigns/${encodeURIComponent(id)}`;
}
