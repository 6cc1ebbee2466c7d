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

/** States, or outcomes, in memory at a time; fewer where they are large. */
const ROWS_PER_PAGE = 200;

/** The largest outcome has some hundred kilobytes. */
const OUTCOMES_PER_STATEMENT = 500;

interface StateRow {
  readonly campaignId: string;
  /** JSON text, like the mutations of an outcome; parsed row by row. */
  readonly values: string;
  readonly periods: string | null;
  readonly system: string;
  readonly updatedAt: Date;
}

interface OutcomeRow {
  readonly campaignId: string;
  readonly key: string;
  readonly createdAt: Date;
  /** With microseconds, which a Date cannot hold. */
  readonly exactly: string;
  readonly mutations: string;
}

/**
 * A person's states after the campaign $3, ordered by campaign: at most $4, or as many as have $5 bytes, but at least
 * one. Each row is one index probe.
 */
const READ_STATES_OF_PERSON = `
  WITH RECURSIVE page AS (
    SELECT 0 AS number, 0::bigint AS bytes, $3::text AS campaign_id, NULL::text AS values, NULL::text AS periods,
      NULL::text AS system, NULL::timestamptz AS updated_at
    UNION ALL
    SELECT p.number + 1, p.bytes + octet_length(s.values), s.campaign_id, s.values, s.periods, s.system, s.updated_at
    FROM page p CROSS JOIN LATERAL (
      SELECT campaign_id, values::text AS values, periods::text AS periods, system::text AS system, updated_at
      FROM participant_states
      WHERE tenant_id = $1 AND subject = $2 AND campaign_id > p.campaign_id ORDER BY campaign_id LIMIT 1
    ) s
    WHERE p.number < $4 AND p.bytes < $5
  )
  SELECT campaign_id AS "campaignId", values, periods, system, updated_at AS "updatedAt"
  FROM page WHERE number > 0 ORDER BY number`;

/** The outcomes of a person's mutations after a campaign, a key and a time ($3 to $5): at most $6, or $7 bytes. */
const READ_OUTCOMES_OF_PERSON = `
  WITH RECURSIVE page AS (
    SELECT 0 AS number, 0::bigint AS bytes, $3::text AS campaign_id, $4::text AS mutation_key, $5::timestamptz AS created_at,
      NULL::text AS mutations
    UNION ALL
    SELECT p.number + 1, p.bytes + octet_length(o.mutations), o.campaign_id, o.mutation_key, o.created_at, o.mutations
    FROM page p CROSS JOIN LATERAL (
      SELECT campaign_id, mutation_key, created_at, mutations::text AS mutations FROM mutation_outcomes
      WHERE tenant_id = $1 AND subject = $2
        AND (campaign_id, mutation_key, created_at) > (p.campaign_id, p.mutation_key, p.created_at)
      ORDER BY campaign_id, mutation_key, created_at LIMIT 1
    ) o
    WHERE p.number < $6 AND p.bytes < $7
  )
  SELECT campaign_id AS "campaignId", mutation_key AS key, created_at AS "createdAt", created_at::text AS exactly, mutations
  FROM page WHERE number > 0 ORDER BY number`;

/** Before what mutations write is erased: the participant's rows, in the order in which mutations lock them (`participantName`). */
export const LOCK_STATES_OF_PERSON = `
  SELECT campaign_id FROM participant_states WHERE tenant_id = $1 AND subject = $2
  ORDER BY (campaign_id || '/') COLLATE "C" FOR UPDATE`;

/**
 * Within the transaction that has deleted the values of the person $2: whether they have none in a campaign. Where they have some,
 * they have begun anew in it since, and the outcomes, the history and the changes there belong to these values.
 */
export const hasNoValuesIn = (campaignId: string): string => `NOT EXISTS (
    SELECT FROM participant_states s WHERE s.tenant_id = $1 AND s.subject = $2 AND s.campaign_id = ${campaignId})`;

const DELETE_VALUES = 'DELETE FROM participant_states WHERE tenant_id = $1 AND subject = $2';
const DELETE_OUTCOMES_LEFT = `
  DELETE FROM mutation_outcomes o WHERE tenant_id = $1 AND subject = $2 AND ${hasNoValuesIn('o.campaign_id')}`;

/** At most $3 outcomes, each found by its key (docs/adr/0092). */
export const DELETE_OUTCOMES: Statement = {
  name: 'runtime_delete_outcomes',
  text: `
    DELETE FROM mutation_outcomes o USING (
      SELECT tenant_id, subject, campaign_id, mutation_key, created_at FROM mutation_outcomes
      WHERE tenant_id = $1::uuid AND subject = $2 LIMIT $3
    ) few
    WHERE o.tenant_id = few.tenant_id AND o.subject = few.subject AND o.campaign_id = few.campaign_id
      AND o.mutation_key = few.mutation_key AND o.created_at = few.created_at`,
};

/** The personal data of the runtime: `user` values in every campaign, and the stored outcomes of mutations. */
@Injectable()
export class StateOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'runtime';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async knowsSubject(tenantId: string, subject: string): Promise<boolean> {
    const rows: unknown[] = await this.database.query(
      `SELECT 1 FROM participant_states WHERE tenant_id = $1 AND subject = $2
       UNION ALL
       SELECT 1 FROM mutation_outcomes WHERE tenant_id = $1 AND subject = $2
       LIMIT 1`,
      [tenantId, subject],
    );
    return rows.length > 0;
  }

  async *exportOf({ tenantId, subject }: Person): AsyncIterable<PersonalRecord> {
    if (subject === null) return;
    yield* this.statesOf(tenantId, subject);
    yield* this.outcomesOf(tenantId, subject);
  }

  /** A participant may have a million outcomes: each statement deletes some of them in a transaction of its own. */
  async eraseAhead({ tenantId, subject }: Person, steps: ErasureSteps): Promise<boolean> {
    if (subject === null) return true;
    for (let erased = OUTCOMES_PER_STATEMENT; erased === OUTCOMES_PER_STATEMENT;) {
      await steps.goOn();
      const values = [tenantId, subject, OUTCOMES_PER_STATEMENT];
      [, erased] = await this.database.query<[unknown, number]>(...queryOf(DELETE_OUTCOMES, values, this.connection));
    }
    return true;
  }

  /** The few outcomes stored since, and the values. */
  async erase(manager: EntityManager, { tenantId, subject }: Person): Promise<void> {
    if (subject === null) return;
    // Then no mutation of these values is storing an outcome. One of a campaign without values may be, and begins anew.
    await manager.query(LOCK_STATES_OF_PERSON, [tenantId, subject]);
    await manager.query(DELETE_VALUES, [tenantId, subject]);
    await manager.query(DELETE_OUTCOMES_LEFT, [tenantId, subject]);
  }

  private async *statesOf(tenantId: string, subject: string): AsyncIterable<PersonalRecord> {
    for (let after = ''; ;) {
      const rows: StateRow[] = await this.database.query(READ_STATES_OF_PERSON, [
        tenantId,
        subject,
        after,
        ROWS_PER_PAGE,
        PAGE_BYTES_MAX,
      ]);
      for (const { campaignId, values, periods, system, updatedAt } of rows) {
        const data = {
          campaignId,
          values: JSON.parse(values) as object,
          ...(periods === null ? {} : { periods: JSON.parse(periods) as object }),
          system: JSON.parse(system) as object,
          updatedAt,
        };
        yield { record: 'participant_state', data };
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.campaignId;
    }
  }

  private async *outcomesOf(tenantId: string, subject: string): AsyncIterable<PersonalRecord> {
    for (let after = ['', '', '-infinity']; ;) {
      const rows: OutcomeRow[] = await this.database.query(READ_OUTCOMES_OF_PERSON, [
        tenantId,
        subject,
        ...after,
        ROWS_PER_PAGE,
        PAGE_BYTES_MAX,
      ]);
      for (const { campaignId, createdAt, mutations } of rows) {
        yield {
          record: 'mutation_outcome',
          data: { campaignId, createdAt, mutations: JSON.parse(mutations) as object },
        };
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = [last.campaignId, last.key, last.exactly];
    }
  }
}
