import { BASE_PATH } from '../api/api';

/** Tabs share one session. The console of another prefix on this host has another one. */
const channel = new BroadcastChannel(`cds-console ${BASE_PATH}`);

/** The owner of no session: the browser has signed out. */
export const NOBODY = '';

/** Tells the other tabs whose session the browser has now. */
export function tellOtherTabs(owner: string): void {
  channel.postMessage(owner);
}

/** Calls `heard` with whose session another tab has found. Returns what ends that. */
export function hearOtherTabs(heard: (owner: string) => void): () => void {
  const onMessage = ({ data }: MessageEvent<unknown>): void => heard(String(data));
  channel.addEventListener('message', onMessage);
  return () => channel.removeEventListener('message', onMessage);
}
