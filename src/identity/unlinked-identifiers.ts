import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { Identifier, IdentifierKind, TenantIdentifier } from './domain/identifier';
import type { NamedIdentifier } from './domain/resolve-profile';
import { FORGET_UNLINKED_OF_EVENTS, INSERT_UNLINKED } from './profile.sql';

/** An event that names identifiers which are not its customer's. */
export interface NamingEvent {
  readonly eventId: string;
  /** The kinds of these identifiers; an event names one of each kind at most. */
  readonly kinds: readonly IdentifierKind[];
}

/** The events behind the id $4 that name one of the identifiers $2, $3; $5 of them at most. */
const FIND_NAMING = `
  SELECT e.event_id AS "eventId", array_agg(u.kind) AS kinds
  FROM unnest($2::text[], $3::text[]) AS u (kind, value)
  CROSS JOIN LATERAL (
    SELECT event_id FROM unlinked_identifiers
    WHERE tenant_id = $1 AND kind = u.kind AND value = u.value AND event_id > $4
    ORDER BY event_id LIMIT $5
  ) e
  GROUP BY e.event_id ORDER BY e.event_id LIMIT $5`;

const FORGET = `
  DELETE FROM unlinked_identifiers i
  USING (SELECT * FROM unnest($2::text[], $3::text[]) AS a (kind, value) OFFSET 0) u
  WHERE i.tenant_id = $1 AND i.kind = u.kind AND i.value = u.value`;

/**
 * Identifiers that stored events name and that are not their customers': by them an erasure finds the events of other
 * customers (docs/adr/0026). They are stored with such events only, so that others cost nothing.
 */
@Injectable()
export class UnlinkedIdentifiers {
  constructor(@Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings) {}

  /** Stores identifiers with COMMIT. */
  record(transaction: Transaction, identifiers: readonly (NamedIdentifier & TenantIdentifier)[]): void {
    if (identifiers.length > 0) transaction.sendLast(INSERT_UNLINKED, insertColumns(identifiers));
  }

  /** Stores identifiers that events turned out to name later. */
  async add(manager: EntityManager, identifiers: readonly (NamedIdentifier & TenantIdentifier)[]): Promise<void> {
    if (identifiers.length === 0) return;
    await manager.query(...queryOf(INSERT_UNLINKED, insertColumns(identifiers), this.connection));
  }

  /** The events that name one of the identifiers, in the order of their ids; those behind the id `after`, page by page. */
  async *eventsNaming(
    manager: EntityManager,
    tenantId: string,
    identifiers: readonly Identifier[],
    { after, perPage }: { readonly after: string; readonly perPage: number },
  ): AsyncIterable<readonly NamingEvent[]> {
    for (let last: string | undefined = after; last !== undefined;) {
      const page: NamingEvent[] = await manager.query(FIND_NAMING, [tenantId, ...keysOf(identifiers), last, perPage]);
      if (page.length > 0) yield page;
      last = page.length < perPage ? undefined : page.at(-1)?.eventId;
    }
  }

  /** Deletes identifiers of an erased person. */
  async forget(manager: EntityManager, tenantId: string, identifiers: readonly Identifier[]): Promise<void> {
    await manager.query(FORGET, [tenantId, ...keysOf(identifiers)]);
  }

  /** Deletes what events name that are erased in the same transaction. */
  async forgetEvents(manager: EntityManager, tenantId: string, eventIds: readonly string[]): Promise<void> {
    await manager.query(...queryOf(FORGET_UNLINKED_OF_EVENTS, [tenantId, eventIds], this.connection));
  }

  /** Deletes with COMMIT what events name that are removed in the same transaction. */
  forgetExpired(transaction: Transaction, tenantId: string, eventIds: readonly string[]): void {
    if (eventIds.length > 0) transaction.sendLast(FORGET_UNLINKED_OF_EVENTS, [tenantId, eventIds]);
  }
}

/** The parameters of `INSERT_UNLINKED`. */
function insertColumns(identifiers: readonly (NamedIdentifier & TenantIdentifier)[]): unknown[] {
  const tenantIds = identifiers.map(({ tenantId }) => tenantId);
  return [tenantIds, ...keysOf(identifiers), identifiers.map(({ eventId }) => eventId)];
}

function keysOf(identifiers: readonly Identifier[]): [string[], string[]] {
  return [identifiers.map(({ kind }) => kind), identifiers.map(({ value }) => value)];
}
