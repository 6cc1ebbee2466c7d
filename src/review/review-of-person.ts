import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import { MAX_UUID, NIL_UUID } from '../platform/values/uuid';
import { isObject } from '../platform/values/json/json-values';
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
import { dialled, TraceSearch } from '../platform/privacy/trace-search';
import { ReviewDismissalRepository } from './dismissals/review-dismissal.repository';
import { ReviewEntry } from './entities/review-entry.entity';
import { PersonSearch, type FoundEntries } from './person-search';
import { WHOLE_ENTRIES } from './review-reader';

/**
 * A search may miss entries that were written up to this time before it began: clocks differ, and transactions take
 * time.
 */
const OVERLAP_MS = 5 * 60_000;
/** Before every entry. */
const ALWAYS = new Date(0);
/** A longer payload is exported as its text, because parsing it would block the event loop. */
const PARSED_CHARACTERS_MAX = 256 * 1024;
/** A deeper payload is exported as its text, too. No accepted body is deeper. */
const PARSED_DEPTH_MAX = 64;

/**
 * Erases payloads and notes. Also erases messages and faults that contain one of the texts $3, or one of the numbers $4 as it
 * is dialled ($5 and $6 of `dialled`): a client may use an identifier as the name of a field. Views mask email addresses
 * there already. Each entry is found by its key (docs/adr/0092).
 */
export const ERASE_ENTRIES: Statement = {
  name: 'review_erase_entries',
  text: `
    UPDATE review_entries e SET payload = NULL,
      message = CASE WHEN found.names THEN 'The message named a person who was erased.' ELSE e.message END,
      details = CASE WHEN found.names THEN '[]' ELSE e.details END,
      resolution = CASE WHEN found.names THEN e.resolution - 'message' - 'details' ELSE e.resolution END - 'note'
    FROM (
      SELECT r.*
      FROM (SELECT id FROM unnest($2::uuid[]) AS each (id) ORDER BY id) u
      CROSS JOIN LATERAL (
        SELECT tenant_id, id, EXISTS (
          SELECT 1 FROM unnest($3::text[]) AS t WHERE strpos(concat(message, details, resolution - 'note'), t) > 0
        ) OR EXISTS (
          SELECT 1 FROM unnest($4::text[]) AS t WHERE strpos(translate(
            concat(message, details, resolution - 'note'), $5::text, $6::text
          ), t) > 0
        ) AS names
        FROM review_entries WHERE tenant_id = $1::uuid AND id = u.id LIMIT 1 FOR NO KEY UPDATE
      ) r
      OFFSET 0
    ) found
    WHERE e.tenant_id = found.tenant_id AND e.id = found.id`,
};

/**
 * Exports and erases the data of a person in the review area: entries about their events, and payloads and notes that
 * name them. Refused payloads have no index. So all payloads of a workspace are searched, those of the last 30 days
 * (docs/adr/0041).
 */
@Injectable()
export class ReviewOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'review';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    private readonly search: PersonSearch,
    private readonly dismissals: ReviewDismissalRepository,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
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

  /** Loads one page of entries at a time. */
  private async *recordsOf(tenantId: string, ids: readonly string[]): AsyncIterable<PersonalRecord> {
    for (let left = ids; left.length > 0;) {
      const fitting = await rowsThatFit(this.database, WHOLE_ENTRIES, [tenantId], left);
      for (const entry of await this.database.manager.findBy(ReviewEntry, {
        tenantId,
        id: In(left.slice(0, fitting)),
      })) {
        const { tenantId: _tenantId, payload, payloadForm, ...rest } = entry;
        yield {
          record: 'review_entry',
          data: { ...rest, payload: payloadForm === 'json' ? eventOnly(payload) : null },
        };
      }
      left = left.slice(fitting);
    }
  }

  /** Erases slice by slice, each in its own transaction, so that little is left to `erase`. */
  async eraseAhead(person: Person, steps: ErasureSteps): Promise<boolean> {
    const { manager } = this.database;
    await this.removeNotes(manager, person);
    const after = steps.position ?? NIL_UUID;
    if (steps.position === undefined && (await this.search.fitsOneSlice(manager, person.tenantId))) return false;
    for await (const found of this.search.entriesOf(manager, person, { after, seenSince: ALWAYS })) {
      await this.eraseThese(manager, person, found);
      await steps.done(found.searchedTo);
    }
    await steps.done(MAX_UUID);
    return true;
  }

  async erase(manager: EntityManager, person: Person, since: Date | null): Promise<void> {
    await this.removeNotes(manager, person);
    const seenSince = since === null ? ALWAYS : new Date(since.getTime() - OVERLAP_MS);
    for await (const found of this.search.entriesOf(manager, person, { after: NIL_UUID, seenSince })) {
      await this.eraseThese(manager, person, found);
    }
  }

  private async eraseThese(manager: EntityManager, person: Person, { ids }: FoundEntries): Promise<void> {
    if (ids.length > 0) await manager.transaction((within) => this.eraseFound(within, person, ids));
  }

  private async eraseFound(manager: EntityManager, person: Person, found: readonly string[]): Promise<void> {
    const ids = await this.search.hold(manager, person, found);
    if (ids.length === 0) return;
    const { tenantId, traces } = person;
    const { from, to } = dialled();
    // Errors show invisible marks as U+FFFD.
    const values = [tenantId, ids, traces.quoted, traces.digits, `${from}\ufffd`, to];
    await manager.query(...queryOf(ERASE_ENTRIES, values, this.connection));
  }

  /** Of bulk dismissals, before the entries are searched: a dismissal that is running writes its note to entries. */
  private removeNotes(manager: EntityManager, { tenantId, traces }: Person): Promise<void> {
    const search = new TraceSearch(traces);
    return this.dismissals.removeNotes(manager, tenantId, (note) => search.isNamedIn(`"${note}"`));
  }
}

/** The payload, if it is a single event; else null, because a batch may contain data of other persons. */
function eventOnly(payload: string | null): unknown {
  if (payload === null) return null;
  if (payload.length > PARSED_CHARACTERS_MAX || depthOf(payload) > PARSED_DEPTH_MAX) {
    return payload.trimStart().startsWith('{') && entriesOf(Buffer.from(payload), 'items').count === 0 ? payload : null;
  }
  const value: unknown = JSON.parse(payload);
  return isObject(value) && !Array.isArray(value['items']) ? value : null;
}
