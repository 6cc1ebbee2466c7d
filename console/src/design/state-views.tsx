import type { UseQueryResult } from '@tanstack/react-query';
import { createContext, useContext, type ReactNode } from 'react';
import { ApiError } from '../api/api-error';
import { Button } from './button';
import { CopyButton } from './copy-button';
import styles from './state-views.module.css';

/** There is nothing yet: what to do first, with the command that does it (`<Curl … />`). */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <section className={styles['state']}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <p role="status" className={styles['loading']}>
      {what} …
    </p>
  );
}

/** What went wrong, and the id by which the service's log has it. */
export function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error instanceof ApiError && error.errorCode === 'insufficient_scope') return <Forbidden error={error} />;
  return (
    <section role="alert" className={styles['failed']}>
      <p>{error instanceof Error ? error.message : 'Something went wrong in this page.'}</p>
      {error instanceof ApiError && error.details.length > 0 && (
        <ul>
          {error.details.map(({ path, message }, index) => (
            <li key={index}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {error instanceof ApiError && error.requestId !== undefined && (
        <p className={styles['request']}>
          request_id <code>{error.requestId}</code> <CopyButton text={error.requestId} what="request id" />
        </p>
      )}
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </section>
  );
}

/** Where the scopes of the session come from: an API key, or groups of an identity provider. */
export const ScopeSource = createContext<'key' | 'oidc'>('key');

const REMEDIES = {
  key: {
    title: 'Your key does not allow this',
    remedy: 'Sign in with a key that has the scope, or ask an administrator of the workspace for one.',
  },
  oidc: {
    title: 'Your groups do not allow this',
    remedy: 'Ask an administrator for a group that has the scope, then sign in again.',
  },
};

/** The session lacks the scope. `error.message` names it. */
export function Forbidden({ error }: { readonly error: ApiError }) {
  const { title, remedy } = REMEDIES[useContext(ScopeSource)];
  return (
    <section role="alert" className={styles['state']}>
      <h2>{title}</h2>
      <p>{error.message}</p>
      <p>{remedy}</p>
      {error.requestId !== undefined && (
        <p className={styles['request']}>
          request_id <code>{error.requestId}</code> <CopyButton text={error.requestId} what="request id" />
        </p>
      )}
    </section>
  );
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
}

/** Loading and error states of one read; its children show what was read, also while it cannot be read again. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const failure = query.error !== null && <Failed error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return failure || <Loading />;
  return (
    <>
      {failure}
      {children(query.data)}
    </>
  );
}
