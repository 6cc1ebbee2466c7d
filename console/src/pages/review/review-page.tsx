import { Route, Switch } from 'wouter';
import { BulkDismissalView } from './bulk-dismissal-view';
import { BulkReplayView } from './bulk-replay-view';
import { EntryPage } from './entry-page';
import { ReviewList } from './review-list';

/** What was refused, why, and what can be done about it (contract section 7). */
export function ReviewPage() {
  return (
    <Switch>
      <Route path="/review/replays/:jobId">{({ jobId }) => <BulkReplayView jobId={jobId} />}</Route>
      <Route path="/review/dismissals/:jobId">{({ jobId }) => <BulkDismissalView jobId={jobId} />}</Route>
      <Route path="/review/:id">{({ id }) => <EntryPage id={id} />}</Route>
      <Route>
        <ReviewList />
      </Route>
    </Switch>
  );
}
