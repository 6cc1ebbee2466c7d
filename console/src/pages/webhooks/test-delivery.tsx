import { useState } from 'react';
import { api } from '../../api/api';
import { Button } from '../../design/button';
import { CodeBlock } from '../../design/code-block';
import { Dialog } from '../../design/dialog';
import { Notice } from '../../design/notice';
import { Failed } from '../../design/state-views';
import { attemptText, type Attempt } from './attempt-text';

/** Sends a test call, and shows what came of it. */
export function TestDelivery({ id }: { readonly id: string }) {
  const [isBusy, setBusy] = useState(false);
  const [attempt, setAttempt] = useState<Attempt>();
  const [error, setError] = useState<unknown>();
  const test = async (): Promise<void> => {
    setBusy(true);
    try {
      setAttempt(await api.post('/v1/webhooks/{id}:test', { path: { id }, body: {} }));
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const close = (): void => {
    setAttempt(undefined);
    setError(undefined);
  };
  return (
    <>
      <Button busy={isBusy} onClick={() => void test()}>
        Send a test call
      </Button>
      <Dialog title="Test call" open={attempt !== undefined || error !== undefined} onClose={close}>
        {attempt !== undefined && (
          <>
            <Notice tone={attempt.outcome === 'delivered' ? 'good' : 'warning'}>
              <p>{attemptText(attempt)}</p>
            </Notice>
            {attempt.answer !== '' && <CodeBlock code={attempt.answer} what="answer" />}
          </>
        )}
        {error !== undefined && <Failed error={error} />}
      </Dialog>
    </>
  );
}
