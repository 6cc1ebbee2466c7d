import { Route, Switch } from 'wouter';
import { EventTypeEditorPage } from './event-type-editor-page';
import { EventTypeList } from './event-type-list';
import { EventTypePage } from './event-type-page';

/** Which events the CDP family takes (contract section 4). No event type can be called `_new`. */
export function EventTypesPage() {
  return (
    <Switch>
      <Route path="/event-types/_new">
        <EventTypeEditorPage />
      </Route>
      <Route path="/event-types/:name">{({ name }) => <EventTypePage name={name} />}</Route>
      <Route>
        <EventTypeList />
      </Route>
    </Switch>
  );
}
