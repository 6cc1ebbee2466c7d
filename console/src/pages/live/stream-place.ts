import { useEffect, useState } from 'react';

/** Over HTTP/1.1 browsers open six connections to a host, for all their tabs together. Streams leave two to everything else. */
const PLACES = 4;

/**
 * Whether this tab may open a stream. Over HTTP/1.1 a few tabs may at the same time, and the others wait for them: with six
 * streams every further call of the browser would wait, also that of signing out. Later versions share one connection.
 */
export function useStreamPlace(): boolean {
  const [isFree] = useState(() => protocol() !== 'http/1.1');
  const [isTaken, setTaken] = useState(false);
  useEffect(() => (isFree ? undefined : takePlace(() => setTaken(true))), [isFree]);
  return isFree || isTaken;
}

function protocol(): string | undefined {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.nextHopProtocol;
}

/** Waits for the first free place. Returns what gives it back; the browser does so for a tab that is closed. */
function takePlace(onTaken: () => void): () => void {
  const others = new AbortController();
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  const take = (): Promise<void> | undefined => {
    // Two places may become free at once, or the page may be gone.
    if (others.signal.aborted) return undefined;
    others.abort();
    onTaken();
    return left;
  };
  for (let place = 1; place <= PLACES; place += 1) {
    // Those that are waited for no longer reject.
    navigator.locks.request(`cds-console live ${place}`, { signal: others.signal }, take).catch(() => undefined);
  }
  return () => {
    others.abort();
    leave();
  };
}
