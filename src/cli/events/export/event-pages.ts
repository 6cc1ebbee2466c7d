import { setTimeout as wait } from 'node:timers/promises';
import { fieldsOf } from '../../foreign-data';
import { ClientFailure, type RunningService } from '../../running-service';
import type { ExportedEvent, ExportPosition } from './event-output';
import type { EventRange } from './export-options';

/** A page of events in the order of receipt. */
interface EventPage {
  readonly events: readonly ExportedEvent[];
  readonly nextCursor: string | null;
  /** RFC 3339: every event received before this time can be listed. */
  readonly completeBefore: string;
}

export interface EventPagesOptions {
  readonly range: EventRange;
  /** Only events of this type; undefined: all of them. */
  readonly eventType?: string | undefined;
  readonly unmask: boolean;
  readonly from: ExportPosition;
  /** How many events the next page may have. */
  readonly room: () => number;
  /** Whether to wait longer for transactions that still store events of the range. */
  readonly mayWait: (waitedMs: number) => boolean;
  readonly signal: AbortSignal;
}

/** Events, and how far the export has come with them. */
export interface ReadEvents {
  readonly events: readonly ExportedEvent[];
  readonly position: ExportPosition;
}

export const AT_THE_BEGINNING: ExportPosition = { rows: 0, cursor: null, isComplete: false, receivedAt: null };

/** As many as the service lists at once. */
const PAGE_ITEMS_MAX = 200;
const LOOK_AGAIN_MS = 500;

/** The time before which every event is stored by now, by the service's clock; RFC 3339. Throws `ClientFailure`. */
export async function readCompleteBefore(service: RunningService, signal: AbortSignal): Promise<string> {
  const page = await readPage(service, new URLSearchParams({ order: 'asc', limit: '1' }), signal);
  return page.completeBefore;
}

/**
 * Every event of the range in the order of receipt, once, a page at a time, each asked for when the one before is done with.
 * The last page `isComplete`. Throws `ClientFailure`, and the reason of the signal.
 */
export async function* eventPages(
  service: RunningService,
  options: EventPagesOptions,
): AsyncGenerator<ReadEvents, void, void> {
  const { range, signal } = options;
  for (let position = options.from, waitedMs = 0; !position.isComplete;) {
    const page = await readPage(service, queryOf(options, position.cursor), signal);
    // Its end is not yet the end of the range.
    if (page.completeBefore < range.to) {
      waitedMs += LOOK_AGAIN_MS;
      if (!options.mayWait(waitedMs)) throw notComplete(range.to, page.completeBefore);
      await wait(LOOK_AGAIN_MS, undefined, { signal });
      continue;
    }
    waitedMs = 0;
    const { events, nextCursor } = page;
    position = {
      rows: position.rows + events.length,
      cursor: nextCursor,
      isComplete: nextCursor === null,
      receivedAt: events.at(-1)?.receivedAt ?? position.receivedAt,
    };
    yield { events, position };
  }
}

/** The filters are the same for all pages, since a cursor is bound to them. */
function queryOf(options: EventPagesOptions, cursor: string | null): URLSearchParams {
  const {
    range: { from, to },
    eventType,
    unmask,
    room,
  } = options;
  return new URLSearchParams({
    order: 'asc',
    to,
    ...(from === undefined ? {} : { from }),
    ...(eventType === undefined ? {} : { eventType }),
    ...(unmask ? { unmask: 'true' } : {}),
    limit: String(Math.min(PAGE_ITEMS_MAX, room())),
    ...(cursor === null ? {} : { cursor }),
  });
}

async function readPage(service: RunningService, query: URLSearchParams, signal: AbortSignal): Promise<EventPage> {
  const body = await service.get(`/v1/events?${query.toString()}`, { signal });
  const { items, nextCursor, completeBefore } = fieldsOf(body);
  const isCursor = nextCursor === null || typeof nextCursor === 'string';
  if (!Array.isArray(items) || !items.every(isEvent) || !isCursor || typeof completeBefore !== 'string') {
    throw service.foreignAnswer(200);
  }
  return { events: items, nextCursor, completeBefore };
}

/** The service has written it; this tells it from what another server answers. */
function isEvent(item: unknown): item is ExportedEvent {
  const { eventId, receivedAt } = fieldsOf(item);
  return typeof eventId === 'string' && typeof receivedAt === 'string';
}

function notComplete(to: string, complete: string): ClientFailure {
  return new ClientFailure(
    `A transaction of the service that began at ${complete} still stores events, so that those before ${to} are not complete. ` +
      'Run the same command again later, or give an earlier --to.',
  );
}
