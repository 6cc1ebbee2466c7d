import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { NIL_UUID } from '../platform/values/uuid';
import type { Person } from '../platform/privacy/personal-data';
import { slicesBySize } from './domain/slices-by-size';
import { TraceSearch } from './domain/trace-search';
import { LOOK_AT_ENTRIES, READ_WORDS } from './review-of-person.sql';

/** Entries of one look without their payloads: some milliseconds. */
const ENTRIES_LOOKED_AT = 2_000;
/** What one statement reads: far below the time that it may take, on a slow disk too. Older payloads have up to 5 MiB. */
const SLICE_BYTES_MAX = 1024 * 1024;
/** Looked through at a time: some milliseconds. */
const PIECE_CHARACTERS = 128 * 1024;
/** Of two pieces: no identifier is longer, however it is escaped, with what stands beside it. */
const OVERLAP_CHARACTERS = 8 * 1024;
/** Then others have a turn. */
const WORK_MS_MAX = 10;

export interface SearchSpan {
  /** The id behind which the search begins. */
  readonly after: string;
  /** Only entries that were last seen since then. */
  readonly seenSince: Date;
}

/** Entries that are about somebody, and how far the search has come by them. */
export interface FoundEntries {
  readonly ids: readonly string[];
  readonly searchedTo: string;
}

interface LookedAt {
  readonly id: string;
  readonly eventId: string | null;
  readonly isMeant: boolean;
  readonly hasWords: boolean;
  readonly bytes: number;
}

interface Words {
  readonly id: string;
  readonly payload: string | null;
  readonly note: string | null;
}

/** Finds the entries of the review area that are about a person, in slices of bytes: no statement reads more than a megabyte. */
@Injectable()
export class PersonSearch {
  constructor(private readonly clock: Clock) {}

  /** Whether all entries of a workspace are read in one slice. */
  async isLittle(manager: EntityManager, tenantId: string): Promise<boolean> {
    const looked = await lookAt(manager, tenantId, { after: NIL_UUID, seenSince: new Date(0) });
    const bytes = looked.reduce((sum, entry) => sum + entry.bytes, 0);
    return looked.length < ENTRIES_LOOKED_AT && bytes <= SLICE_BYTES_MAX;
  }

  /** A list for each slice, empty ones too, so that the caller can tell how far it has come. */
  async *entriesOf(
    manager: EntityManager,
    person: Person,
    { after, seenSince }: SearchSpan,
  ): AsyncIterable<FoundEntries> {
    const search = new TraceSearch(person.traces);
    const { tenantId } = person;
    for (let isMore = true; isMore;) {
      const looked = await lookAt(manager, tenantId, { after, seenSince });
      const meant = looked.filter(({ isMeant }) => isMeant);
      const own = await ownAmong(manager, person, meant);
      yield { ids: own, searchedTo: after };
      const others = meant.filter(({ id, hasWords }) => hasWords && !own.includes(id));
      for (const ids of slicesBySize(others, SLICE_BYTES_MAX)) {
        yield { ids: await this.namedIn(manager, tenantId, ids, search), searchedTo: ids.at(-1) ?? after };
      }
      after = looked.at(-1)?.id ?? after;
      isMore = looked.length === ENTRIES_LOOKED_AT;
    }
  }

  private async namedIn(
    manager: EntityManager,
    tenantId: string,
    ids: readonly string[],
    search: TraceSearch,
  ): Promise<string[]> {
    const named: string[] = [];
    const pause = this.pauses();
    for (const { id, payload, note } of await read(manager, tenantId, ids, 1)) {
      const isNamed = (note !== null && search.isNamedIn(`"${note}"`)) || (await isIn(payload ?? '', search, pause));
      if (isNamed || (await isInRest(manager, { tenantId, id }, payload, search, pause))) named.push(id);
    }
    return named;
  }

  /** Lets others have a turn where work has gone on for long enough. */
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

/** The same of what follows in a payload that is longer than what is read at a time. */
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

function lookAt(manager: EntityManager, tenantId: string, { after, seenSince }: SearchSpan): Promise<LookedAt[]> {
  return manager.query(LOOK_AT_ENTRIES, [tenantId, after, ENTRIES_LOOKED_AT, seenSince]);
}

function read(manager: EntityManager, tenantId: string, ids: readonly string[], from: number): Promise<Words[]> {
  return manager.query(READ_WORDS, [tenantId, ids, from, SLICE_BYTES_MAX]);
}

/** The ids of those entries that are about events of the person, whatever their payloads say. */
async function ownAmong(
  manager: EntityManager,
  { ownEvents }: Person,
  entries: readonly LookedAt[],
): Promise<string[]> {
  const eventIds = entries.flatMap(({ eventId }) => eventId ?? []);
  const own = eventIds.length === 0 ? new Set<string>() : await ownEvents(manager, eventIds);
  return entries.filter(({ eventId }) => eventId !== null && own.has(eventId)).map(({ id }) => id);
}
