import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../design/button';
import { Curl } from '../../design/code-block';
import { DataTable, type Column } from '../../design/data-table';
import { TextField } from '../../design/field';
import { Muted } from '../../design/layout';
import { Page, Section } from '../../design/page';
import { Empty, Failed, Loading } from '../../design/state-views';
import styles from './campaigns.module.css';
import { useKnownCampaigns, type KnownCampaign } from './known-campaigns';

const ID = '[A-Za-z0-9][A-Za-z0-9_.\\-]{0,127}';

const COLUMNS: readonly Column<KnownCampaign>[] = [
  { id: 'id', header: 'Campaign', cell: ({ id }) => <Link href={hrefOf(id)}>{id}</Link>, grow: true },
  { id: 'from', header: 'Named by', cell: ({ from }) => from },
];

export function CampaignList() {
  const { campaigns, isPending, failed, isComplete } = useKnownCampaigns();
  return (
    <Page title="Campaigns">
      <OpenCampaign />
      <Section title="Known campaigns">
        <Muted>
          Campaigns that JWT issuers name, or whose reactions met one of the last 200 events. Open others by their id.
        </Muted>
        {!isComplete && <Muted>To see all of them, a key needs the scopes jwt-issuers:read and events:read.</Muted>}
        {isPending && <Loading />}
        {failed.map(({ error, refetch }, index) => (
          <Failed key={index} error={error} onRetry={() => void refetch()} />
        ))}
        {!isPending && failed.length === 0 && campaigns.length === 0 && <NoCampaigns />}
        {campaigns.length > 0 && (
          <DataTable
            label="List of campaigns"
            columns={COLUMNS}
            rows={campaigns}
            rowKey={({ id }) => id}
            rowHref={({ id }) => hrefOf(id)}
          />
        )}
      </Section>
    </Page>
  );
}

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
    <Empty title="No campaign is known yet">
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
