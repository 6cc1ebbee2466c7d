import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, useEffect, useState, type ReactNode } from 'react';
import { Router } from 'wouter';
import { BASE_PATH, handleSessionErrors, isTransient } from '../api/api';
import { ApiError } from '../api/api-error';
import { forgetRecords } from '../api/queries';
import { ownerOf, readSession, type Session } from '../api/session';
import { SecretDialog, useIsSecretShown } from '../design/secret-dialog';
import { Failed, ScopeSource } from '../design/state-views';
import { Toasts } from '../design/toast';
import { closeDrafts, openDrafts } from './drafts';
import { useExactSearch } from './exact-search';
import { hearOtherTabs, tellOtherTabs } from './other-tabs';
import { ProofDialog, askForProof } from './proof-dialog';
import { SessionContext } from './session-context';
import { Shell } from './shell';
import styles from './shell.module.css';
import { SignIn } from './sign-in';

const RETRIES = 2;
/** A page that nobody touches notices after this time that its session has ended. */
const SESSION_CHECK_MS = 10_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A browser that thinks it is offline reaches a service on its own machine. Where it does not, the page says so.
      networkMode: 'always',
      retry: (failures, error) => failures < RETRIES && isTransient(error),
    },
  },
});

export function App() {
  return (
    // Base UI would write style elements, which the content security policy refuses.
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <Router base={BASE_PATH} searchHook={useExactSearch}>
          <SignedIn>
            <Shell />
          </SignedIn>
          <SecretDialog />
        </Router>
        <Toasts />
      </QueryClientProvider>
    </CSPProvider>
  );
}

/** Its children, or the sign-in page in their place: the address stays, so that signing in leads back to it. */
function SignedIn({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [ended, setEnded] = useState<Session>();
  const query = useQuery({
    queryKey: ['session'],
    queryFn: () => readSession().then((session) => begin(client, session), signedOutOr),
    refetchInterval: ({ state }) => state.data != null && SESSION_CHECK_MS,
  });
  useEffect(() => {
    const onSignedOut = (): void => {
      const before = client.getQueryData<Session | null>(['session']);
      // The sign-in page asks, too, and is refused as long as nobody has signed in.
      if (before == null) return;
      setEnded(before);
      forgetEverything(client);
    };
    handleSessionErrors({ onSignedOut, askForProof });
    return hearOtherTabs((owner) => {
      const current = client.getQueryData<Session | null>(['session']);
      if (current == null || ownerOf(current) !== owner) void client.refetchQueries({ queryKey: ['session'] });
    });
  }, [client]);
  const { data: session, error } = query;
  const isSecretShown = useIsSecretShown();
  if (session === undefined) {
    return (
      <main className={styles['alone']}>
        {error !== null && <Failed error={error} onRetry={() => void query.refetch()} />}
      </main>
    );
  }
  // The secret first, which cannot be shown again.
  if (session === null && isSecretShown) return <main className={styles['alone']} />;
  if (session === null) {
    const readAgain = async (): Promise<Session | null> => (await query.refetch({ throwOnError: true })).data ?? null;
    return <SignIn ended={ended} onSignedIn={readAgain} />;
  }
  return (
    <SessionContext.Provider value={session}>
      <ScopeSource.Provider value={session.via}>
        <Fragment key={ownerOf(session)}>
          {children}
          <ProofDialog />
        </Fragment>
      </ScopeSource.Provider>
    </SessionContext.Provider>
  );
}

/** Another tab may have signed in elsewhere: nothing of the session before stays in the page then. */
function begin(client: QueryClient, session: Session): Session {
  const before = client.getQueryData<Session | null>(['session']);
  if (before == null || ownerOf(before) !== ownerOf(session)) {
    if (before != null) forgetRecords(client);
    tellOtherTabs(ownerOf(session));
  }
  openDrafts(session);
  return session;
}

function signedOutOr(error: unknown): null {
  if (error instanceof ApiError && error.status === 401) return null;
  throw error;
}

/** Nothing that was read in a session outlives it in the page, but what its user was writing. */
function forgetEverything(client: QueryClient): void {
  closeDrafts();
  forgetRecords(client);
  client.setQueryData(['session'], null);
}
