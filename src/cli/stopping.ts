/** The two stages in which a run stops. */
export interface Stopping {
  /** No new request begins, and pauses end. */
  readonly soon: AbortSignal;
  /** Requests under way are aborted. */
  readonly now: AbortSignal;
  /** Removes the signal handlers. */
  dispose(): void;
}

/** Requests under way get this long after the first signal; a second one ends them at once. */
const FINISH_MS_MAX = 5_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Stops by SIGINT, SIGTERM and SIGHUP: by the first one soon, by a second one, or 5 s later, now. */
export function stoppingBySignals(): Stopping {
  const [soon, now] = [new AbortController(), new AbortController()];
  const onSignal = (): void => {
    if (soon.signal.aborted) now.abort();
    soon.abort();
    setTimeout(() => now.abort(), FINISH_MS_MAX).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    soon: soon.signal,
    now: now.signal,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
