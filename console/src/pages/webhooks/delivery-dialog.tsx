import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/api';
import { useAction } from '../../design/action';
import { Button } from '../../design/button';
import { CodeBlock } from '../../design/code-block';
import { Dialog, DialogActions } from '../../design/dialog';
import { useFilters } from '../../design/filters';
import { Notice } from '../../design/notice';
import { Properties } from '../../design/page';
import { Failed } from '../../design/state-views';
import { Time } from '../../design/time';
import { showToast } from '../../design/toast';
import { useScope } from '../../shell/session-context';
import { attemptText, reasonText } from './attempt-text';
import { DeliveryState, SubjectId, type Delivery } from './deliveries';
import styles from './webhooks.module.css';

interface DeliveryDialogProps {
  readonly webhookId: string;
  /** The one that the address names; undefined: none, or it is not among those that were read. */
  readonly delivery: Delivery | undefined;
  /** It is no longer among them, and was as it is shown. */
  readonly hasLeft: boolean;
}

/** A delivery with each of its attempts. */
export function DeliveryDialog({ webhookId, delivery, hasLeft }: DeliveryDialogProps) {
  const [, change] = useFilters(['delivery']);
  return (
    <Dialog title="Delivery" open={delivery !== undefined} onClose={() => change({ delivery: undefined })} wide>
      {hasLeft && <Notice>Its state has changed, so that it has left the list. This is how it was before.</Notice>}
      {delivery !== undefined && <Content webhookId={webhookId} delivery={delivery} />}
    </Dialog>
  );
}

function Content({ webhookId, delivery }: { readonly webhookId: string; readonly delivery: Delivery }) {
  const { kind, state, reason, attempts, attemptCount, createdAt, doneAt } = delivery;
  return (
    <>
      <Properties
        entries={[
          ['State', <DeliveryState state={state} />],
          [kind === 'event' ? 'Event' : 'Change', <SubjectId delivery={delivery} />],
          ['Queued', <Time at={createdAt} exact />],
          ['Done', <Time at={doneAt} exact />],
          ['Reason', reasonText(reason)],
          ['Attempts', attemptCount.toLocaleString()],
        ]}
      />
      {attempts.length < attemptCount && <p>The last {attempts.length} of them:</p>}
      <ol className={styles['attempts']} aria-label="Attempts">
        {attempts.toReversed().map((attempt, index) => (
          <li key={`${attempt.at} ${index}`}>
            <p>
              <Time at={attempt.at} exact /> <strong>{attemptText(attempt)}</strong>
            </p>
            {attempt.answer !== '' && <CodeBlock code={attempt.answer} what="answer" />}
          </li>
        ))}
      </ol>
      <Retry webhookId={webhookId} delivery={delivery} />
    </>
  );
}

function Retry({ webhookId, delivery: { id, state } }: { readonly webhookId: string; readonly delivery: Delivery }) {
  const client = useQueryClient();
  const { isBusy, error, run } = useAction();
  if (!useScope('webhooks:write')) return null;
  const retry = async (): Promise<void> => {
    const path = { id: webhookId, delivery_id: id };
    await api.post('/v1/webhooks/{id}/deliveries/{delivery_id}:retry', { path, body: {} });
    showToast({ title: 'It is sent now.' });
    await client.invalidateQueries({ queryKey: ['/v1/webhooks/{id}/deliveries'] });
  };
  return (
    <>
      {error !== undefined && <Failed error={error} />}
      <DialogActions>
        <Button kind="primary" busy={isBusy} onClick={() => void run(retry)}>
          {state === 'pending' ? 'Try now' : 'Send again'}
        </Button>
      </DialogActions>
    </>
  );
}
