import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function AccessPage() {
  return (
    <Page title="Access">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
