import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { MAX_UUID, NIL_UUID } from '../platform/values/uuid';
import { isObject } from '../platform/values/json/is-object';
import { entriesOf } from '../platform/values/json/json-entries';
import { depthOf } from '../platform/values/json/json-text';
import { rowsThatFit } from '../platform/pagination/page-bytes';
import {
  PersonalData,
  type ErasureSteps,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../platform/privacy/personal-data';
import { ReviewEntry } from './entities/review-entry.entity';
import { PersonSearch, type FoundEntries } from './person-search';
import { ERASE_ENTRIES } from './review-of-person.sql';
import { WHOLE_ENTRIES } from './review-reader';

/** Clocks of nodes and transactions under way: what was written so long before a search began may have been missed by it. */
const OVERLAP_MS = 5 * 60_000;
/** Before everything. */
const ALWAYS = new Date(0);
/** Of a payload that is parsed in one go; a longer one is handed out as its text. */
const PARSED_CHARACTERS_MAX = 256 * 1024;
/** Deeper ones are handed out as their text, too: no body that is taken is deeper. */
const PARSED_DEPTH_MAX = 64;

/**
 * What the review area keeps of persons: entries about their events, and payloads and notes that name them. Refused payloads
 * are in no index; all of a workspace are searched, which are those of the last 30 days, some at a time (docs/adr/0041).
 */
@Injectable()
export class ReviewOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'review';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    private readonly search: PersonSearch,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf(person: Person): AsyncIterable<PersonalRecord> {
    const { tenantId } = person;
    const { manager } = this.database;
    for await (const { ids } of this.search.entriesOf(manager, person, { after: NIL_UUID, seenSince: ALWAYS })) {
      yield* this.recordsOf(tenantId, ids);
    }
  }

  /** A page's worth of entries in memory at a time. */
  private async *recordsOf(tenantId: string, ids: readonly string[]): AsyncIterable<PersonalRecord> {
    for (let left = ids; left.length > 0;) {
      const fitting = await rowsThatFit(this.database, WHOLE_ENTRIES, [tenantId], left);
      for (const entry of await this.database.manager.findBy(ReviewEntry, {
        ...{ tenantId, id: In(left.slice(0, fitting)) },
      })) {
        const { tenantId: _tenantId, payload, payloadForm, ...rest } = entry;
        yield { record: 'review_entry', data: { ...rest, payload: payloadForm === 'json' ? ofOne(payload) : null } };
      }
      left = left.slice(fitting);
    }
  }

  /** All of the workspace, each slice of them a transaction of its own; little is left to `erase`. */
  async eraseAhead(person: Person, steps: ErasureSteps): Promise<boolean> {
    const { manager } = this.database;
    const after = steps.position ?? NIL_UUID;
    if (steps.position === undefined && (await this.search.isLittle(manager, person.tenantId))) return false;
    for await (const found of this.search.entriesOf(manager, person, { after, seenSince: ALWAYS })) {
      await erase(manager, person, found);
      await steps.done(found.searchedTo);
    }
    await steps.done(MAX_UUID);
    return true;
  }

  async erase(manager: EntityManager, person: Person, since: Date | null): Promise<void> {
    const seenSince = since === null ? ALWAYS : new Date(since.getTime() - OVERLAP_MS);
    for await (const found of this.search.entriesOf(manager, person, { after: NIL_UUID, seenSince })) {
      await erase(manager, person, found);
    }
  }
}

async function erase(manager: EntityManager, { tenantId, traces }: Person, { ids }: FoundEntries): Promise<void> {
  if (ids.length > 0) await manager.query(ERASE_ENTRIES, [tenantId, ids, traces.quoted]);
}

/** Only of one event: a refused batch may hold what is others', as may what is no JSON. */
function ofOne(payload: string | null): unknown {
  if (payload === null) return null;
  if (payload.length > PARSED_CHARACTERS_MAX || depthOf(payload) > PARSED_DEPTH_MAX) {
    return payload.trimStart().startsWith('{') && entriesOf(Buffer.from(payload), 'items').count === 0 ? payload : null;
  }
  const value: unknown = JSON.parse(payload);
  return isObject(value) && !Array.isArray(value['items']) ? value : null;
}
