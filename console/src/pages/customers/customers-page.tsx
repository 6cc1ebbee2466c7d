import { Page } from '../../design/page';
import { Empty } from '../../design/state-views';

export function CustomersPage() {
  return (
    <Page title="Customers">
      <Empty title="This page is not built yet" />
    </Page>
  );
}
