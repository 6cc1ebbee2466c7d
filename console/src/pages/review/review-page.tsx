import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function ReviewPage() {
  return (
    <Page title="Review">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
