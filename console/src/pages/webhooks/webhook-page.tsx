import { useRead } from '../../api/queries';
import { CopyableId } from '../../design/copyable-id';
import { JsonView } from '../../design/json-view';
import { Page, Properties } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Tabs } from '../../design/tabs';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { Deliveries } from './deliveries';
import { Replays } from './replays';
import { WebhookActions } from './webhook-actions';
import { WebhookState, type Webhook } from './webhook-state';

export function WebhookPage({ id }: { readonly id: string }) {
  const query = useRead('/v1/webhooks/{id}', { path: { id } });
  const title = query.data === undefined ? 'Endpoint' : titleOf(query.data);
  return (
    <Page
      title={title}
      back={{ href: '/webhooks', label: 'All endpoints' }}
      actions={query.data && <WebhookActions webhook={query.data} />}
    >
      <Loaded query={query}>
        {(webhook) => (
          <>
            <WebhookProperties webhook={webhook} />
            <Tabs
              label="Endpoint"
              tabs={[
                { id: 'deliveries', label: 'Deliveries', content: <Deliveries id={id} /> },
                { id: 'replays', label: 'Replays', content: <Replays webhook={webhook} /> },
                { id: 'rules', label: 'Rules', content: <JsonView value={webhook.events} what="rules" /> },
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function titleOf({ description, url }: Webhook): string {
  return visibleText(description === null || description === '' ? url : description);
}

function WebhookProperties({ webhook }: { readonly webhook: Webhook }) {
  return (
    <Properties
      entries={[
        ['State', <WebhookState webhook={webhook} />],
        ['Address', visibleText(webhook.url)],
        ['Id', <CopyableId id={webhook.id} what="endpoint id" />],
        ['Failing since', <Time at={webhook.failingSince} exact />],
        ['Disabled', <Time at={webhook.disabledAt} exact />],
        ['Old secret until', <Time at={webhook.previousSecretUntil} exact />],
        ['Signed with', webhook.algorithm],
        ['Personal data', webhook.unmask ? 'sent as they are' : 'masked'],
        ['Created', <Time at={webhook.createdAt} exact />],
        ['Changed', <Time at={webhook.updatedAt} exact />],
        ['Created by', <code>{visibleText(webhook.createdBy)}</code>],
      ]}
    />
  );
}
