import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { providerAddress, readSignInMethods, signIn, type Session } from '../api/session';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Failed } from '../design/state-views';
import styles from './shell.module.css';

interface SignInProps {
  /** The session that has just ended, and was not signed out of. */
  readonly ended: Session | undefined;
  /** Reads the session; null when there is none. Rejects when it cannot be read. */
  readonly onSignedIn: () => Promise<Session | null>;
}

/** Over plain HTTP browsers take the cookie of this machine's own services only. */
const NO_COOKIE =
  'The key is right, but the browser has not kept the cookie of the session. Open the console over https, and allow its cookies.';

export function SignIn({ ended, onSignedIn }: SignInProps) {
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const methods = useQuery({ queryKey: ['session', 'methods'], queryFn: readSignInMethods });
  useEffect(() => {
    document.title = 'Sign in · Campaign Data Service';
  }, []);
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn(key.trim());
      // With a session this form is gone.
      if ((await onSignedIn()) === null) throw new Error(NO_COOKIE);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <main className={styles['alone']}>
      <form
        className={styles['signIn']}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>Campaign Data Service</h1>
        {ended !== undefined && <p role="status">Your session has ended. Sign in again to go on.</p>}
        <TextField
          label="API key"
          type="password"
          required
          autoFocus
          value={key}
          onChange={({ target }) => setKey(target.value)}
          hint="A key of the workspace. The first one is in the log of the service, or in BOOTSTRAP_ADMIN_KEY."
        />
        {error !== undefined && <Failed error={error} />}
        <Button kind="primary" type="submit" busy={isBusy}>
          Sign in
        </Button>
        {methods.data?.oidc === true && (
          <a href={providerAddress({ isProof: false, session: ended })}>Sign in with the identity provider</a>
        )}
      </form>
    </main>
  );
}
