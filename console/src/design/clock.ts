import { useSyncExternalStore } from 'react';
import { serviceTime } from '../api/service-clock';

const TICK_MS = 5_000;
const listeners = new Set<() => void>();
let now = serviceTime();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = serviceTime();
  for (const listener of listeners) listener();
}

/** While nobody listens no timer runs: what is shown next would begin with the time of the last one. */
function shownTime(): number {
  if (timer === undefined && Math.abs(serviceTime() - now) >= TICK_MS) now = serviceTime();
  return now;
}

/** The time of the service in milliseconds, refreshed every five seconds: one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, shownTime);
}

/** The time at this moment, for what a form begins with. */
export function currentTime(): Date {
  return new Date(serviceTime());
}
