import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import {
  PersonalData,
  type ErasureSteps,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../platform/privacy/personal-data';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { hasNoValuesIn, LOCK_STATES_OF_PERSON } from './state-of-person';

const ENTRIES_PER_PAGE = 200;
/** A participant may have a million entries. */
const ENTRIES_PER_STATEMENT = 500;

/** Which entries are about a person, $2, and in which order an index has them. */
const OWN = { condition: "subject = $2 AND scope = 'user'", order: ['owner_id', 'name', 'at', 'position'] } as const;
const OF_SHARED_VALUES = {
  condition: "changed_by = $2 AND changed_by <> ''",
  order: ['at', 'position', 'scope', 'owner_id', 'name'],
} as const;
const ENTRIES_OF_PERSON = [OWN, OF_SHARED_VALUES];
type EntriesOfPerson = (typeof ENTRIES_OF_PERSON)[number];

/** The same entry: the columns of the primary key, by which each is found (docs/adr/0092). */
const IS_SAME = ['tenant_id', 'subject', 'scope', 'owner_id', 'name', 'at', 'position', 'stored_at']
  .map((column) => `c.${column} = few.${column}`)
  .join(' AND ');

/** At most $3 entries. What the person has changed for others stays, but not who it was, nor the id that they chose. */
export const DELETE_OWN: Statement = {
  name: 'runtime_delete_history',
  text: `DELETE FROM value_changes c USING ${someOf(OWN)} WHERE ${IS_SAME}`,
};
const DELETE_OWN_LEFT = `
  DELETE FROM value_changes c WHERE tenant_id = $1 AND ${OWN.condition} AND ${hasNoValuesIn('c.owner_id')}`;
export const FORGET_WHO_IN_HISTORY: Statement = {
  name: 'runtime_forget_who',
  text: `
    UPDATE value_changes c SET changed_by = '', cause = '{"kind":"mutation"}'
    FROM ${someOf(OF_SHARED_VALUES)} WHERE ${IS_SAME}`,
};

/** In the order of the index: without it PostgreSQL may look for all entries of the person each time. */
function someOf({ condition, order }: EntriesOfPerson): string {
  return `(SELECT * FROM value_changes WHERE tenant_id = $1::uuid AND ${condition} ORDER BY ${order.join(', ')} LIMIT $3) few`;
}

/** How the columns of the order are compared with parameters, and returned for the next page. */
const AS_TIME = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000000)`;
const AS_MICROS = "(date_part('epoch', at) * 1000000)::bigint";

/**
 * The entries after those with the values $5 and following in the columns of the order: at most $3, of which the first
 * ones are returned up to $4 bytes, but at least one.
 */
function readAfter({ condition, order }: EntriesOfPerson): string {
  const parameters = order.map((column, index) => {
    const parameter = `$${index + 5}`;
    if (column === 'at') return AS_TIME(parameter);
    return column === 'position' ? `${parameter}::integer` : parameter;
  });
  return `
    SELECT scope, owner_id, name, ${AS_MICROS}::text AS at, position::text AS position, data FROM (
      SELECT *, sum(octet_length(data)) OVER
        (ORDER BY ${order.join(', ')} ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS before
      FROM (
        SELECT scope, owner_id, name, at, position, json_build_object('scope', scope, 'ownerId', owner_id, 'name', name,
          'at', at, 'op', op, 'previous', previous, 'current', current, 'periodStart', period_start,
          'cause', cause)::text AS data
        FROM value_changes
        WHERE tenant_id = $1 AND ${condition} AND (${order.join(', ')}) > (${parameters.join(', ')})
        ORDER BY ${order.join(', ')} LIMIT $3
      ) entries
    ) measured
    WHERE coalesce(before, 0) < $4 ORDER BY ${order.map((column) => `measured.${column}`).join(', ')}`;
}

const BEFORE_ALL = { scope: '', owner_id: '', name: '', at: '0', position: '0' } as const;
type EntryPosition = Readonly<Record<keyof typeof BEFORE_ALL, string>>;

/** The personal data in the history of values: the person's own values, and who changed shared ones. */
@Injectable()
export class HistoryOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'history';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf({ tenantId, subject }: Person): AsyncIterable<PersonalRecord> {
    if (subject === null) return;
    for (const entries of ENTRIES_OF_PERSON) yield* this.exportSome(tenantId, subject, entries);
  }

  /** Each statement changes some entries in a transaction of its own. */
  async eraseAhead({ tenantId, subject }: Person, steps: ErasureSteps): Promise<boolean> {
    if (subject === null) return true;
    for (const statement of [DELETE_OWN, FORGET_WHO_IN_HISTORY]) {
      for (let changed = ENTRIES_PER_STATEMENT; changed === ENTRIES_PER_STATEMENT;) {
        await steps.goOn();
        const values = [tenantId, subject, ENTRIES_PER_STATEMENT];
        [, changed] = await this.database.query<[unknown, number]>(...queryOf(statement, values, this.connection));
      }
    }
    return true;
  }

  /** The few entries written since. */
  async erase(manager: EntityManager, { tenantId, subject }: Person): Promise<void> {
    if (subject === null) return;
    // Then no mutation of values that are erased is writing an entry. `StateOfPerson` may have erased them before.
    await manager.query(LOCK_STATES_OF_PERSON, [tenantId, subject]);
    await manager.query(DELETE_OWN_LEFT, [tenantId, subject]);
    await manager.query(...queryOf(FORGET_WHO_IN_HISTORY, [tenantId, subject, null], this.connection));
  }

  private async *exportSome(
    tenantId: string,
    subject: string,
    entries: EntriesOfPerson,
  ): AsyncIterable<PersonalRecord> {
    const statement = readAfter(entries);
    for (let after: EntryPosition = BEFORE_ALL; ;) {
      const rows: (EntryPosition & { readonly data: string })[] = await this.database.query(statement, [
        ...[tenantId, subject, ENTRIES_PER_PAGE, PAGE_BYTES_MAX],
        ...entries.order.map((column) => after[column]),
      ]);
      for (const { data } of rows) yield { record: 'value_change', data: JSON.parse(data) as object };
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }
}
