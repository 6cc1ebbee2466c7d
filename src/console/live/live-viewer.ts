import type { ServerResponse } from 'node:http';
import type { LiveBundle, LiveEvent } from './domain/live-event';
import { isShown, type LiveFilter } from './domain/live-filter';

/** Why a stream ended, as the viewer is told. */
export type LiveEnd = 'session_ended' | 'unavailable' | 'stopping';

/** What a session may see of live events. */
export interface LiveRights {
  /** With `review:read`: refused events name their review entries. */
  readonly showsEntries: boolean;
}

/** Whom a stream is for. */
export interface LiveAccess {
  readonly tenantId: string;
  readonly filter: LiveFilter;
  /** At this moment; undefined when the session has ended. Rejects when nobody can say now. */
  readonly rights: () => Promise<LiveRights | undefined>;
}

/** The headers of a stream. */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // A proxy that collects answers would never pass on this one.
  'X-Accel-Buffering': 'no',
} as const;

/** Events that wait for a flush, or for a slow reader; further ones are counted. About 50 KB. */
const WAITING_EVENTS_MAX = 100;

/**
 * One open stream of server-sent events. What its reader does not take is counted and never kept: at most one message waits
 * in the connection, and 100 events here.
 */
export class LiveViewer {
  private waiting: LiveEvent[] = [];
  private notShown = 0;
  private showsEntries = false;
  private isOpen = false;
  private isChecking = false;

  constructor(
    readonly access: LiveAccess,
    private readonly response: ServerResponse,
  ) {}

  /** `rights` are those at this moment. */
  open({ showsEntries }: LiveRights): void {
    this.showsEntries = showsEntries;
    this.response.writeHead(200, STREAM_HEADERS);
    this.isOpen = true;
    this.write(': open\n\n');
  }

  take({ events, notShown }: LiveBundle): void {
    const { filter } = this.access;
    for (const event of events) {
      if (!isShown(filter, event)) continue;
      if (this.waiting.length < WAITING_EVENTS_MAX) this.waiting.push(event);
      else this.notShown += 1;
    }
    for (const { group, events: count } of notShown) if (isShown(filter, group)) this.notShown += count;
  }

  flush(): void {
    if (!this.isOpen || this.response.writableNeedDrain || (this.waiting.length === 0 && this.notShown === 0)) return;
    const items = this.showsEntries ? this.waiting : this.waiting.map(withoutEntry);
    const data = JSON.stringify({ items, notShown: this.notShown });
    this.waiting = [];
    this.notShown = 0;
    this.write(`event: events\ndata: ${data}\n\n`);
  }

  /** Shows proxies and the reader that the stream is alive. */
  beat(): void {
    if (!this.response.writableNeedDrain) this.write(':\n\n');
  }

  /** Why the stream must end now; undefined while its session is in force. */
  async findEnd(): Promise<LiveEnd | undefined> {
    if (this.isChecking) return undefined;
    this.isChecking = true;
    try {
      const rights = await this.access.rights();
      this.showsEntries = rights?.showsEntries === true;
      return rights === undefined ? 'session_ended' : undefined;
    } catch {
      return 'unavailable';
    } finally {
      this.isChecking = false;
    }
  }

  end(reason: LiveEnd): void {
    if (this.isOpen && !this.response.writableEnded)
      this.response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
  }

  private write(text: string): void {
    if (this.isOpen && !this.response.writableEnded && !this.response.destroyed) this.response.write(text);
  }
}

function withoutEntry({ at, family, source, eventType, result, id, eventId, codes }: LiveEvent): LiveEvent {
  return { at, family, source, eventType, result, id, eventId, codes };
}
