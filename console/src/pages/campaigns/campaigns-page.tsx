import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function CampaignsPage() {
  return (
    <Page title="Campaigns">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
