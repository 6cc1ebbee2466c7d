import { useEffect, useState } from 'react';
import { providerAddress, proveKey, type Session } from '../api/session';
import { Button } from '../design/button';
import { Dialog, DialogActions } from '../design/dialog';
import { TextField } from '../design/field';
import { Failed } from '../design/state-views';
import { useSession } from './session-context';
import styles from './shell.module.css';

type Answer = (isProven: boolean) => void;

interface Question {
  readonly proven: Promise<boolean>;
  readonly answer: Answer;
}

let open: ((answer: Answer) => void) | undefined;
let question: Question | undefined;

/** Asks for the key again. Calls that are refused at the same time share one question. */
export function askForProof(): Promise<boolean> {
  if (open === undefined) return Promise.resolve(false);
  if (question === undefined) {
    let answer: Answer = () => undefined;
    const proven = new Promise<boolean>((resolve) => (answer = resolve)).finally(() => (question = undefined));
    question = { proven, answer };
    open(answer);
  }
  return question.proven;
}

/**
 * Once for each session. Creating a key, unmasking and erasing need a proof of at most five minutes ago. The answer is no
 * when the session ends: what was asked for by one session is not done by the next one.
 */
export function ProofDialog() {
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => {
    open = (next) => setAnswer(() => next);
    return () => {
      open = undefined;
      question?.answer(false);
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
  const session = useSession();
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
  if (session.via === 'oidc') return <ProviderProof session={session} />;
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

function ProviderProof({ session }: { readonly session: Session }) {
  return (
    <div className={styles['proof']}>
      <p>
        This needs a fresh proof, which counts for five minutes. Sign in with the identity provider again; then do once
        more what you were doing.
      </p>
      <DialogActions>
        <a href={providerAddress({ isProof: true, session })}>Sign in again</a>
      </DialogActions>
    </div>
  );
}
