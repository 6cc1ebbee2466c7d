import { Route, Switch } from 'wouter';
import { CustomerPage } from './customer-page';
import { CustomerSearch } from './customer-search';

/** Who customers are, what they did, and what the law asks to be done with it (contract section 5). */
export function CustomersPage() {
  return (
    <Switch>
      <Route path="/customers/:id">{({ id }) => <CustomerPage key={id} id={id} />}</Route>
      <Route>
        <CustomerSearch />
      </Route>
    </Switch>
  );
}
