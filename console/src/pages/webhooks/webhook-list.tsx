import { Link } from 'wouter';
import { useList } from '../../api/queries';
import { Curl } from '../../design/code-block';
import { PagedTable, type Column } from '../../design/data-table';
import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import { CreateWebhook } from './create-webhook';
import { WebhookState, type Webhook } from './webhook-state';

const COLUMNS: readonly Column<Webhook>[] = [
  // The address is the client's: it leads to the page of the endpoint, never to where it points.
  {
    id: 'url',
    header: 'Endpoint',
    cell: ({ id, url }) => <Link href={hrefOf(id)}>{visibleText(url)}</Link>,
    grow: true,
  },
  { id: 'description', header: 'Description', cell: ({ description }) => visibleText(description ?? '') },
  { id: 'state', header: 'State', cell: (webhook) => <WebhookState webhook={webhook} /> },
  { id: 'events', header: 'Hears of', cell: ({ events }) => visibleText(subjectsOf(events)) },
  { id: 'failing', header: 'Failing since', cell: ({ failingSince }) => <Time at={failingSince} /> },
  { id: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function WebhookList() {
  const list = useList('/v1/webhooks', {});
  const mayWrite = useScope('webhooks:write');
  return (
    <Page title="Webhooks" actions={mayWrite && <CreateWebhook />}>
      <PagedTable
        label="Endpoints"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        rowHref={({ id }) => hrefOf(id)}
        empty={<NoWebhooks />}
      />
    </Page>
  );
}

function NoWebhooks() {
  return (
    <Empty title="There is no endpoint yet">
      <p>
        Systems elsewhere hear of events and of changes by signed calls. Name the address that is called, and what is
        sent.
      </p>
      <Curl
        method="POST"
        path="/v1/webhooks"
        body={{ url: 'https://hooks.example.com/campaigns', events: [{ eventType: 'purchase' }] }}
      />
    </Empty>
  );
}

function subjectsOf(rules: Webhook['events']): string {
  return [...new Set(rules.map(subjectOf))].join(', ');
}

/** A rule is for events of a type, or for changes of a variable. */
function subjectOf({ eventType = '', change }: Webhook['events'][number]): string {
  return change === undefined ? eventType : `changes of ${change.scope}.${change.name}`;
}

function hrefOf(id: string): string {
  return `/webhooks/${id}`;
}
