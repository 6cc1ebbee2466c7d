import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/api-error';
import { showToast } from './toast';

interface Action {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** `onDone` is called if the form or dialog is still there. */
  readonly run: (work: () => Promise<unknown>, onDone?: () => void) => Promise<void>;
}

/** Whether a component is still there, for what comes later. */
function useIsThere(): { readonly current: boolean } {
  const isThere = useRef(true);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  return isThere;
}

/** Leads to another page while this one is still shown: a late answer leads nobody away from where they have gone meanwhile. */
export function useLateNavigation(): (href: string) => void {
  const [, navigate] = useLocation();
  const isThere = useIsThere();
  return (href) => {
    if (isThere.current) navigate(href);
  };
}

/** What a form or a dialog does. A failure that comes when it was closed is shown as a message: nothing else would show it. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const isThere = useIsThere();
  const run = async (work: () => Promise<unknown>, onDone?: () => void): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
      if (isThere.current) onDone?.();
    } catch (failure) {
      if (isThere.current) setError(failure);
      else showFailure(failure);
    }
    setBusy(false);
  };
  return { isBusy, error, run };
}

interface NamedAction<Name> {
  /** The action that is under way. */
  readonly busy: Name | undefined;
  readonly error: unknown;
  readonly run: (name: Name, work: () => Promise<unknown>) => Promise<void>;
}

/** The same for several actions of one form, of which one is under way at a time. */
export function useNamedAction<Name extends string>(): NamedAction<Name> {
  const { isBusy, error, run } = useAction();
  const [last, setLast] = useState<Name>();
  return {
    busy: isBusy ? last : undefined,
    error,
    run: (name, work) => {
      setLast(name);
      return run(work);
    },
  };
}

/** Not when the session has ended meanwhile, which the page says by itself. */
function showFailure(failure: unknown): void {
  if (!(failure instanceof ApiError) || failure.status === 401 || failure.errorCode === 'proof_required') return;
  const { message, requestId } = failure;
  const id = requestId === undefined ? '' : ` request_id ${requestId}`;
  showToast({ title: 'What you have closed has failed', description: `${message}${id}`, stays: true });
}
