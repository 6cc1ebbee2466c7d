import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function EventTypesPage() {
  return (
    <Page title="Event types">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
