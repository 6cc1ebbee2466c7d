import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { queryOf } from '../../platform/postgres/one-workspace';
import type { Statement } from '../../platform/postgres/statement';
import { identifierFinder, identityOfKinds, identityWithoutKinds } from '../../identity/domain/named-identifiers';
import { IdentityService } from '../../identity/identity.service';
import { MergesService } from '../../identity/merges.service';
import { UnlinkedIdentifiers, type NamingEvent } from '../../identity/unlinked-identifiers';
import {
  PersonalData,
  type ErasureSteps,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../../platform/privacy/personal-data';
import { TraceSearch } from '../../platform/privacy/trace-search';
import { TimeSlice } from '../../platform/values/time-slice';
import { NIL_UUID } from '../../platform/values/uuid';
import { withoutTraces } from '../domain/without-traces';

/** Identities of one statement: some milliseconds. */
const IDENTITIES_PER_PAGE = 500;
/** Events that one transaction changes: few enough to hold their locks for milliseconds, and up to 3 MiB. */
const EVENTS_PER_TRANSACTION = 50;

type StoredIdentity = Readonly<Record<string, string>>;

/** The last event that was looked at. */
interface LookedAt {
  readonly profileId: string;
  /** With microseconds, which a Date cannot hold. */
  readonly occurredAt: string;
  readonly eventId: string;
}

/** First all events of separated customers are looked at, then events are changed in the order of their ids. */
type Position = { readonly lookedAt: LookedAt } | { readonly changedTo: string };

interface NamingRow {
  readonly eventId: string;
  readonly profileId: string;
  readonly receivedAt: Date;
  readonly identity: StoredIdentity | null;
}

interface IdentityRow extends Omit<NamingRow, 'profileId'> {
  readonly occurredAt: string;
}

/** An event of the external-events family has one identifier, which is its customer's. */
const READ_IDENTITIES = `
  SELECT event_id AS "eventId", occurred_at::text AS "occurredAt", received_at AS "receivedAt",
    CASE WHEN family = 'cdp' THEN identity END AS identity
  FROM events
  WHERE tenant_id = $1 AND profile_id = $2 AND occurred_at > '-infinity' AND (occurred_at, event_id) > ($3, $4)
  ORDER BY occurred_at, event_id LIMIT $5`;

const READ_NAMING = `
  SELECT event_id AS "eventId", profile_id AS "profileId", received_at AS "receivedAt", identity FROM events
  WHERE tenant_id = $1 AND event_id = ANY($2) ORDER BY event_id`;

const LOCK_NAMING = `
  SELECT event_id AS "eventId", identity, properties::text AS properties FROM events
  WHERE tenant_id = $1 AND event_id = ANY($2) AND (identity <> '{}' OR properties <> '{}')
  ORDER BY event_id FOR NO KEY UPDATE`;

/** Guesses could be tried on the content hash, as on that of an erased event. */
export const CHANGE_NAMING: Statement = {
  name: 'ingest_change_naming',
  text: `
    UPDATE events e SET identity = u.identity::jsonb, properties = u.properties::jsonb, content_hash = ''
    FROM (
      SELECT $1::uuid AS tenant_id, a.*
      FROM unnest($2::uuid[], $3::text[], $4::text[]) AS a (event_id, identity, properties) OFFSET 0
    ) u
    WHERE e.tenant_id = u.tenant_id AND e.event_id = u.event_id`,
};

/**
 * Events of other customers that name the person: a link was refused, a limit was reached, or an undo has separated the
 * customers since. They stay, without what names the person (docs/adr/0026).
 */
@Injectable()
export class EventsNamingPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'events_of_others';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    private readonly identity: IdentityService,
    private readonly merges: MergesService,
    private readonly unlinked: UnlinkedIdentifiers,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  /** Only which events these are, and the person's own identifiers: the rest is another customer's. */
  async *exportOf(person: Person): AsyncIterable<PersonalRecord> {
    const separated = new Set(await this.merges.separatedFrom(person.tenantId, person.profileIds));
    yield* this.recordedOf(person, separated);
    const identifiersIn = identifierFinder(person.identifiers, this.identity.rules);
    for await (const { rows } of this.separatedEvents(person, undefined)) {
      for (const row of rows) {
        const kinds = identifiersIn(row.identity ?? {}).map(({ kind }) => kind);
        if (kinds.length > 0) yield exported(row, kinds);
      }
    }
  }

  /**
   * Nothing is left to `erase`: when this begins, no event that names the person is being stored any more. What it has
   * recorded stays until the erasure ends, so that other features find the same events.
   */
  async eraseAhead(person: Person, steps: ErasureSteps): Promise<boolean> {
    const position = steps.position === undefined ? undefined : (JSON.parse(steps.position) as Position);
    const isRecorded = position !== undefined && 'changedTo' in position;
    if (!isRecorded) await this.recordSeparated(person, steps, position?.lookedAt);
    await this.removePerson(person, steps, isRecorded ? position.changedTo : NIL_UUID);
    return true;
  }

  erase(): Promise<void> {
    return Promise.resolve();
  }

  /** The events that named the person when they were stored, but for those of separated customers. */
  private async *recordedOf(
    { tenantId, identifiers }: Person,
    separated: ReadonlySet<string>,
  ): AsyncIterable<PersonalRecord> {
    const { manager } = this.database;
    const pages = { after: NIL_UUID, perPage: IDENTITIES_PER_PAGE };
    for await (const naming of this.unlinked.eventsNaming(manager, tenantId, identifiers, pages)) {
      const kinds = kindsById(naming);
      const rows: NamingRow[] = await manager.query(READ_NAMING, [tenantId, [...kinds.keys()]]);
      for (const row of rows) if (!separated.has(row.profileId)) yield exported(row, kinds.get(row.eventId) ?? []);
    }
  }

  /** Records events of separated customers that name the person, like those that named the person when they were stored. */
  private async recordSeparated(person: Person, steps: ErasureSteps, begin: LookedAt | undefined): Promise<void> {
    const { tenantId, identifiers } = person;
    const identifiersIn = identifierFinder(identifiers, this.identity.rules);
    for await (const { profileId, rows } of this.separatedEvents(person, begin)) {
      await steps.goOn();
      const named = rows.flatMap(({ eventId, identity }) =>
        identity === null ? [] : identifiersIn(identity).map((identifier) => ({ tenantId, ...identifier, eventId })),
      );
      await this.unlinked.add(this.database.manager, named);
      const last = rows.at(-1);
      if (last === undefined) continue;
      const { occurredAt, eventId } = last;
      await steps.done(positionText({ lookedAt: { profileId, occurredAt, eventId } }));
    }
  }

  /** The events of customers that undone merges separated from the person, page by page; those behind `begin`. */
  private async *separatedEvents(
    { tenantId, profileIds }: Person,
    begin: LookedAt | undefined,
  ): AsyncIterable<{ readonly profileId: string; readonly rows: readonly IdentityRow[] }> {
    const separated = await this.merges.separatedFrom(tenantId, profileIds);
    for (const profileId of separated.toSorted()) {
      if (begin !== undefined && profileId < begin.profileId) continue;
      let after: Omit<LookedAt, 'profileId'> = begin?.profileId === profileId ? begin : FIRST;
      for (let isMore = true; isMore;) {
        const values = [tenantId, profileId, after.occurredAt, after.eventId, IDENTITIES_PER_PAGE];
        const rows: IdentityRow[] = await this.database.query(READ_IDENTITIES, values);
        yield { profileId, rows };
        after = rows.at(-1) ?? after;
        isMore = rows.length === IDENTITIES_PER_PAGE;
      }
    }
  }

  private async removePerson(person: Person, steps: ErasureSteps, after: string): Promise<void> {
    const { manager } = this.database;
    const { tenantId, identifiers, traces } = person;
    const search = new TraceSearch(traces);
    const pages = { after, perPage: EVENTS_PER_TRANSACTION };
    for await (const naming of this.unlinked.eventsNaming(manager, tenantId, identifiers, pages)) {
      await steps.goOn();
      await manager.transaction((within) => this.removePersonFrom(within, tenantId, naming, search));
      await steps.done(positionText({ changedTo: naming.at(-1)?.eventId ?? after }));
    }
  }

  private async removePersonFrom(
    manager: EntityManager,
    tenantId: string,
    naming: readonly NamingEvent[],
    search: TraceSearch,
  ): Promise<void> {
    const kinds = kindsById(naming);
    const rows: { eventId: string; identity: StoredIdentity; properties: string }[] = await manager.query(LOCK_NAMING, [
      tenantId,
      [...kinds.keys()],
    ]);
    const slice = new TimeSlice();
    const properties: string[] = [];
    for (const row of rows) {
      const rest = await slice.run(withoutTraces(JSON.parse(row.properties) as Record<string, unknown>, search));
      properties.push(JSON.stringify(rest));
    }
    const identities = rows.map(({ eventId, identity }) => identityWithoutKinds(identity, kinds.get(eventId) ?? []));
    const eventIds = rows.map(({ eventId }) => eventId);
    const values = [tenantId, eventIds, identities.map((identity) => JSON.stringify(identity)), properties];
    await manager.query(...queryOf(CHANGE_NAMING, values, this.connection));
  }
}

const FIRST = { occurredAt: '-infinity', eventId: NIL_UUID };

function exported(
  { eventId, receivedAt, identity }: Omit<NamingRow, 'profileId'>,
  kinds: NamingEvent['kinds'],
): PersonalRecord {
  return { record: 'named_in_event', data: { eventId, receivedAt, identity: identityOfKinds(identity ?? {}, kinds) } };
}

function kindsById(naming: readonly NamingEvent[]): ReadonlyMap<string, NamingEvent['kinds']> {
  return new Map(naming.map(({ eventId, kinds }) => [eventId, kinds]));
}

function positionText(position: Position): string {
  return JSON.stringify(position);
}
