import { useEffect } from 'react';
import { BASE_PATH } from '../api/api';
import type { ApiError } from '../api/api-error';
import { Failed } from '../design/state-views';
import styles from './shell.module.css';

/** In the place of the console, after the way to the identity provider and back did not end in a session. */
export function SignInFailed({ problem }: { readonly problem: ApiError }) {
  useEffect(() => {
    document.title = 'Sign-in failed · Campaign Data Service';
  }, []);
  return (
    <main className={styles['alone']}>
      <div className={styles['signIn']}>
        <h1>The sign-in has failed</h1>
        <Failed error={problem} />
        <p>
          <a href={`${BASE_PATH}/`}>Back to the sign-in</a>
        </p>
      </div>
    </main>
  );
}
