import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useList } from '../../api/queries';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { TextField } from '../../design/field';
import { Page, Section } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import styles from './campaigns.module.css';

const ID = '[A-Za-z0-9][A-Za-z0-9_.\\-]{0,127}';

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

export function CampaignList() {
  const list = useList('/v1/campaigns', {});
  return (
    <Page title="Campaigns">
      <OpenCampaign />
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

/** A campaign begins with its first variable, so that a new one is opened by its id. */
function OpenCampaign() {
  const [, navigate] = useLocation();
  const [id, setId] = useState('');
  return (
    <form
      role="search"
      className={styles['open']}
      onSubmit={(event) => {
        event.preventDefault();
        navigate(hrefOf(id.trim()));
      }}
    >
      <TextField
        label="Campaign id"
        type="search"
        required
        pattern={ID}
        title="Letters, digits, dots, dashes and underscores; at most 128."
        placeholder="spring-sale"
        value={id}
        onChange={({ target }) => setId(target.value)}
      />
      <Button kind="primary" type="submit">
        Open campaign
      </Button>
    </form>
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
