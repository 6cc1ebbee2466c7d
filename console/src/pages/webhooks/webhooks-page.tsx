import { Route, Switch } from 'wouter';
import { WebhookList } from './webhook-list';
import { WebhookPage } from './webhook-page';

export function WebhooksPage() {
  return (
    <Switch>
      <Route path="/webhooks/:id">{({ id }) => <WebhookPage key={id} id={id} />}</Route>
      <Route>
        <WebhookList />
      </Route>
    </Switch>
  );
}
