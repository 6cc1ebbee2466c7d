import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function WebhooksPage() {
  return (
    <Page title="Webhooks">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
