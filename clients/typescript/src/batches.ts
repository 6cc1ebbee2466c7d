/** Contract of the service: beyond these it refuses a batch, unless its operator has set others. */
export const BATCH_ITEMS_MAX = 1_000;
export const BATCH_BYTES_MAX = 5 * 1024 * 1024;

/** `{"items":[]}` */
const ENVELOPE_BYTES = 12;

export interface BatchLimits {
  readonly itemsMax: number;
  readonly bytesMax: number;
  /** Once it is aborted no further event is read. */
  readonly signal: AbortSignal;
}

/** Events that go in one request. */
export interface Batch<Event, Family> {
  readonly events: readonly Event[];
  /** How many events came before these. */
  readonly start: number;
  /** Each as JSON. */
  readonly texts: readonly string[];
  readonly family: Family;
}

/**
 * Cuts events into batches, in their order, each of one family. An event that is larger than a batch may be stands alone: the
 * service says what is wrong with it.
 */
export async function* batchesOf<Event, Family>(
  events: Iterable<Event> | AsyncIterable<Event>,
  familyOf: (event: Event) => Family,
  { itemsMax, bytesMax, signal }: BatchLimits,
): AsyncGenerator<Batch<Event, Family>, void> {
  const encoder = new TextEncoder();
  let open: { start: number; events: Event[]; texts: string[]; family: Family; bytes: number } | undefined;
  let count = 0;
  for await (const event of events) {
    if (signal.aborted) return;
    const text = JSON.stringify(event);
    const bytes = encoder.encode(text).length + 1;
    const family = familyOf(event);
    if (open !== undefined && (open.bytes + bytes > bytesMax || open.family !== family)) {
      yield open;
      open = undefined;
    }
    open ??= { start: count, events: [], texts: [], family, bytes: ENVELOPE_BYTES };
    count += 1;
    open.events.push(event);
    open.texts.push(text);
    open.bytes += bytes;
    // At once: the next event may take a while.
    if (open.events.length >= itemsMax || open.bytes >= bytesMax) {
      yield open;
      open = undefined;
    }
  }
  if (open !== undefined) yield open;
}

export function bodyOf(texts: readonly string[]): string {
  return `{"items":[${texts.join(',')}]}`;
}
