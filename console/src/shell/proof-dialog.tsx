import { useEffect, useState } from 'react';
import { BASE_PATH } from '../api/api';
import { proveKey } from '../api/session';
import { Button } from '../design/button';
import { Dialog, DialogActions } from '../design/dialog';
import { TextField } from '../design/field';
import { Failed } from '../design/state-views';
import { useSession } from './session-context';
import styles from './shell.module.css';

type Answer = (isProven: boolean) => void;

let open: ((answer: Answer) => void) | undefined;
let waiting: Promise<boolean> | undefined;

/** Asks for the key again. Calls that are refused at the same time share one question. */
export function askForProof(): Promise<boolean> {
  const show = open;
  if (show === undefined) return Promise.resolve(false);
  waiting ??= new Promise<boolean>(show).finally(() => (waiting = undefined));
  return waiting;
}

/** Once, in the shell. Creating a key, unmasking and erasing need a proof of at most five minutes ago. */
export function ProofDialog() {
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => {
    open = (next) => setAnswer(() => next);
    return () => {
      open = undefined;
    };
  }, []);
  const finish = (isProven: boolean): void => {
    answer?.(isProven);
    setAnswer(undefined);
  };
  return (
    <Dialog title="Show that it is you" open={answer !== undefined} onClose={() => finish(false)}>
      <ProofForm onProven={() => finish(true)} onCancel={() => finish(false)} />
    </Dialog>
  );
}

function ProofForm({ onProven, onCancel }: { readonly onProven: () => void; readonly onCancel: () => void }) {
  const { via } = useSession();
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await proveKey(key.trim());
      onProven();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  if (via === 'oidc') return <ProviderProof />;
  return (
    <form
      className={styles['proof']}
      onSubmit={(event) => {
        // The form lies in the tree of the page's own forms.
        event.stopPropagation();
        event.preventDefault();
        void submit();
      }}
    >
      <p>This needs a fresh proof. Write the API key that you signed in with; it counts for five minutes.</p>
      <TextField
        label="API key"
        type="password"
        required
        autoFocus
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      {error !== undefined && <Failed error={error} />}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="primary" type="submit" busy={isBusy}>
          Continue
        </Button>
      </DialogActions>
    </form>
  );
}

function ProviderProof() {
  return (
    <div className={styles['proof']}>
      <p>This needs a fresh proof. Sign in with the identity provider again; it counts for five minutes.</p>
      <DialogActions>
        <a href={`${BASE_PATH}/api/oidc/sign-in`}>Sign in again</a>
      </DialogActions>
    </div>
  );
}
