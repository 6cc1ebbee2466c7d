import { isObject } from '../../../platform/values/json/json-values';
import type { LiveBundle, LiveCount, LiveEvent } from './live-event';

/** PostgreSQL refuses notifications of 8,000 bytes. */
const MESSAGE_BYTES_MAX = 7_900;
/** The message without its entries. */
const FRAME_BYTES = 120;

interface Message extends LiveBundle {
  readonly tenantId: string;
  /** PostgreSQL sends equal notifications of a transaction once. */
  readonly part: number;
}

/** The messages that carry a bundle between processes. An event has at most some 4 KB: its names are bounded. */
export function messagesOf(tenantId: string, { events, notShown }: LiveBundle): string[] {
  const messages: string[] = [];
  let part: { events: LiveEvent[]; notShown: LiveCount[] } = { events: [], notShown: [] };
  let bytes = FRAME_BYTES;
  const close = (): void => {
    messages.push(JSON.stringify({ tenantId, part: messages.length, ...part } satisfies Message));
    part = { events: [], notShown: [] };
    bytes = FRAME_BYTES;
  };
  const add = (entry: object, to: () => void): void => {
    const more = Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (bytes > FRAME_BYTES && bytes + more > MESSAGE_BYTES_MAX) close();
    bytes += more;
    to();
  };
  for (const event of events) add(event, () => part.events.push(event));
  for (const count of notShown) add(count, () => part.notShown.push(count));
  close();
  return messages;
}

/** The bundle in a message of a process of this version; undefined for one that cannot be read. */
export function bundleIn(text: string): (LiveBundle & { readonly tenantId: string }) | undefined {
  try {
    const message: unknown = JSON.parse(text);
    if (!isObject(message) || typeof message['tenantId'] !== 'string') return undefined;
    if (!Array.isArray(message['events']) || !Array.isArray(message['notShown'])) return undefined;
    return message as unknown as Message;
  } catch {
    return undefined;
  }
}
