import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { NIL_UUID } from '../platform/ids/uuid';
import { isObject } from '../platform/json/is-object';
import {
  PersonalData,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../platform/personal-data/personal-data';
import { ReviewEntry } from './entities/review-entry.entity';
import { FIND_TRACES } from './review-of-person.sql';

/** Payloads have up to 5 MiB; most have some hundred bytes. */
const ENTRIES_PER_STATEMENT = 100;

interface LookedAt {
  readonly id: string;
  readonly eventId: string | null;
  readonly named: boolean;
}

/**
 * What the review area keeps of persons: entries about their events, and payloads and notes that name them. Refused payloads are in no
 * index; all of a workspace are searched, which are those of the last 30 days.
 */
@Injectable()
export class ReviewOfPerson implements PersonalDataKeeper, OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf(person: Person): AsyncIterable<PersonalRecord> {
    const { tenantId } = person;
    for await (const ids of this.entriesOf(this.database.manager, person, false)) {
      for (const entry of await this.database.manager.findBy(ReviewEntry, { tenantId, id: In(ids) })) {
        const { tenantId: _tenantId, payload, payloadForm: _form, ...rest } = entry;
        yield { record: 'review_entry', data: { ...rest, payload: payloadOfOne(payload) } };
      }
    }
  }

  async erase(manager: EntityManager, person: Person): Promise<void> {
    for await (const ids of this.entriesOf(manager, person, true)) {
      await manager.query(
        `UPDATE review_entries e SET payload = NULL, resolution = resolution - 'note'
         FROM (SELECT id FROM review_entries WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE) found
         WHERE e.tenant_id = $1 AND e.id = found.id`,
        [person.tenantId, ids],
      );
    }
  }

  /** The ids of the entries that are about somebody, a list at a time. */
  private async *entriesOf(
    manager: EntityManager,
    { tenantId, traces, ownEvents }: Person,
    withWords: boolean,
  ): AsyncIterable<string[]> {
    for (let after: string = NIL_UUID; ;) {
      const rows: LookedAt[] = await manager.query(FIND_TRACES, [
        ...[tenantId, after, withWords, ENTRIES_PER_STATEMENT],
        ...[traces.quoted, traces.within, traces.digits],
      ]);
      const own = await ownEvents(
        manager,
        rows.flatMap(({ eventId }) => eventId ?? []),
      );
      const ids = rows.filter(({ eventId, named }) => named || (eventId !== null && own.has(eventId)));
      if (ids.length > 0) yield ids.map(({ id }) => id);
      const last = rows.at(-1);
      if (last === undefined || rows.length < ENTRIES_PER_STATEMENT) return;
      after = last.id;
    }
  }
}

/** Only of one event: a refused batch, or a body that is no JSON, may hold what is others'. */
function payloadOfOne(payload: string | null): unknown {
  try {
    const value: unknown = JSON.parse(payload ?? 'null');
    return isObject(value) && !Array.isArray(value['items']) ? value : null;
  } catch {
    return null;
  }
}
