import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function LivePage() {
  return (
    <Page title="Live events">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
