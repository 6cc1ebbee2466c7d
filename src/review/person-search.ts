import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { NIL_UUID } from '../platform/values/uuid';
import type { Person } from '../platform/privacy/personal-data';
import { slicesBySize } from './domain/slices-by-size';
import { TraceSearch } from '../platform/privacy/trace-search';

/** Entries of one query, without their payloads: some milliseconds. */
const ENTRIES_PER_QUERY = 2_000;
/**
 * Bytes of payloads that one statement reads, so that it takes little time even on a slow disk. A payload has up to 5
 * MiB.
 */
const SLICE_BYTES_MAX = 1024 * 1024;
/** Characters that are searched without a pause: some milliseconds. */
const PIECE_CHARACTERS = 128 * 1024;
/** The overlap of two pieces. No escaped identifier, with the context that the search needs, is longer. */
const OVERLAP_CHARACTERS = 8 * 1024;
/** After this time the search pauses, so that other requests proceed. */
const WORK_MS_MAX = 10;

export interface SearchSpan {
  /** The search starts after this id. */
  readonly after: string;
  /** Only entries that were last seen or closed at this time or later. */
  readonly seenSince: Date;
}

/** Entries about a person, and the position of the search. */
export interface FoundEntries {
  readonly ids: readonly string[];
  readonly searchedTo: string;
}

interface ListedEntry {
  readonly id: string;
  readonly eventId: string | null;
  readonly isRecent: boolean;
  /** Whether it has a payload or a note. */
  readonly hasText: boolean;
  readonly bytes: number;
}

interface EntryTexts {
  readonly id: string;
  readonly payload: string | null;
  readonly note: string | null;
  /** Of the fields that are at fault, as JSON, where the payload is not kept. */
  readonly paths: string | null;
}

/** How large the texts of an entry are, and whether it has some. */
const TEXTS = `octet_length(coalesce(payload, details::text)) AS bytes,
    payload IS NOT NULL OR resolution ->> 'note' IS NOT NULL OR details <> '[]' AS "hasText"`;

/**
 * The next entries of a workspace after the id $2, in the order of their ids, with the size of their payloads; payloads
 * are not read. Where there is none, the paths of faults may still name a person. `isRecent`: last seen, or closed with a
 * note, at $4 or later.
 */
const LIST_ENTRIES = `
  SELECT id, event_id AS "eventId", greatest(last_seen_at, closed_at) >= $4 AS "isRecent", ${TEXTS}
  FROM review_entries
  WHERE tenant_id = $1 AND id > $2
  ORDER BY id LIMIT $3`;

/** These entries ($2), locked until the transaction ends: what would change them waits. */
const HOLD_ENTRIES = `
  SELECT id, event_id AS "eventId", true AS "isRecent", ${TEXTS}
  FROM review_entries
  WHERE tenant_id = $1 AND id = ANY($2)
  ORDER BY id FOR NO KEY UPDATE`;

/** Payloads, or else paths of faults, and notes of entries; of each payload $4 characters from position $3 on. */
const READ_TEXTS = `
  SELECT id, substr(payload, $3, $4) AS payload, resolution ->> 'note' AS note,
    CASE WHEN payload IS NULL THEN jsonb_path_query_array(details, '$[*].path')::text END AS paths
  FROM review_entries WHERE tenant_id = $1 AND id = ANY($2)
  ORDER BY id`;

/** Finds the review entries about a person, in slices: no statement reads more than a megabyte of payloads. */
@Injectable()
export class PersonSearch {
  constructor(private readonly clock: Clock) {}

  /** Whether one slice holds all entries of a workspace. */
  async fitsOneSlice(manager: EntityManager, tenantId: string): Promise<boolean> {
    const listed = await listEntries(manager, tenantId, { after: NIL_UUID, seenSince: new Date(0) });
    const bytes = listed.reduce((sum, entry) => sum + entry.bytes, 0);
    return listed.length < ENTRIES_PER_QUERY && bytes <= SLICE_BYTES_MAX;
  }

  /** Yields one list for each slice, also an empty one, so that the caller can store the position. */
  async *entriesOf(
    manager: EntityManager,
    person: Person,
    { after, seenSince }: SearchSpan,
  ): AsyncIterable<FoundEntries> {
    const search = new TraceSearch(person.traces);
    const { tenantId } = person;
    for (let isMore = true; isMore;) {
      const listed = await listEntries(manager, tenantId, { after, seenSince });
      const recent = listed.filter(({ isRecent }) => isRecent);
      const own = await ownAmong(manager, person, recent);
      yield { ids: own, searchedTo: after };
      const others = recent.filter(({ id, hasText }) => hasText && !own.includes(id));
      for (const ids of slicesBySize(others, SLICE_BYTES_MAX)) {
        yield { ids: await this.namedIn(manager, tenantId, ids, search), searchedTo: ids.at(-1) ?? after };
      }
      after = listed.at(-1)?.id ?? after;
      isMore = listed.length === ENTRIES_PER_QUERY;
    }
  }

  /** Locks found entries, and returns those that are still about the person: their event may have been sent again since. */
  async hold(manager: EntityManager, person: Person, ids: readonly string[]): Promise<readonly string[]> {
    const search = new TraceSearch(person.traces);
    const held: ListedEntry[] = await manager.query(HOLD_ENTRIES, [person.tenantId, ids]);
    const found = await ownAmong(manager, person, held);
    const others = held.filter(({ id, hasText }) => hasText && !found.includes(id));
    for (const some of slicesBySize(others, SLICE_BYTES_MAX)) {
      found.push(...(await this.namedIn(manager, person.tenantId, some, search)));
    }
    return found;
  }

  private async namedIn(
    manager: EntityManager,
    tenantId: string,
    ids: readonly string[],
    search: TraceSearch,
  ): Promise<string[]> {
    const named: string[] = [];
    const pause = this.pauses();
    for (const { id, payload, note, paths } of await read(manager, tenantId, ids, 1)) {
      const isNamed =
        (note !== null && search.isNamedIn(`"${note}"`)) ||
        (paths !== null && search.isNamedInPaths(paths)) ||
        (await isIn(payload ?? paths ?? '', search, pause));
      if (isNamed || (await isInRest(manager, { tenantId, id }, payload, search, pause))) named.push(id);
    }
    return named;
  }

  /** Returns a function that yields to the event loop once the work took `WORK_MS_MAX`. */
  private pauses(): Pause {
    let since = this.clock.monotonicMs();
    return async () => {
      if (this.clock.monotonicMs() - since < WORK_MS_MAX) return;
      await setImmediate();
      since = this.clock.monotonicMs();
    };
  }
}

type Pause = () => Promise<void>;

async function isIn(text: string, search: TraceSearch, pause: Pause): Promise<boolean> {
  for (let from = 0; from < text.length; from += PIECE_CHARACTERS - OVERLAP_CHARACTERS) {
    if (search.isNamedIn(text.slice(from, from + PIECE_CHARACTERS))) return true;
    await pause();
  }
  return false;
}

/** Searches the rest of a payload that is longer than one slice. */
async function isInRest(
  manager: EntityManager,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  first: string | null,
  search: TraceSearch,
  pause: Pause,
): Promise<boolean> {
  let last = first;
  for (let from = 1; last !== null && Buffer.byteLength(last) >= SLICE_BYTES_MAX;) {
    from += SLICE_BYTES_MAX - OVERLAP_CHARACTERS;
    const [entry] = await read(manager, tenantId, [id], from);
    last = entry?.payload ?? null;
    if (last !== null && (await isIn(last, search, pause))) return true;
  }
  return false;
}

function listEntries(
  manager: EntityManager,
  tenantId: string,
  { after, seenSince }: SearchSpan,
): Promise<ListedEntry[]> {
  return manager.query(LIST_ENTRIES, [tenantId, after, ENTRIES_PER_QUERY, seenSince]);
}

function read(manager: EntityManager, tenantId: string, ids: readonly string[], from: number): Promise<EntryTexts[]> {
  return manager.query(READ_TEXTS, [tenantId, ids, from, SLICE_BYTES_MAX]);
}

/** The ids of the entries about events of the person, independent of their payloads. */
async function ownAmong(
  manager: EntityManager,
  { ownEvents }: Person,
  entries: readonly ListedEntry[],
): Promise<string[]> {
  const eventIds = entries.flatMap(({ eventId }) => eventId ?? []);
  const own = eventIds.length === 0 ? new Set<string>() : await ownEvents(manager, eventIds);
  return entries.filter(({ eventId }) => eventId !== null && own.has(eventId)).map(({ id }) => id);
}
