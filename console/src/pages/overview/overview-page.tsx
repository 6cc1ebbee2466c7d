import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function OverviewPage() {
  return (
    <Page title="Overview">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
