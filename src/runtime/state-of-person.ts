import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
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

/** The largest outcome has some hundred kilobytes, which are deleted piece by piece. */
const OUTCOMES_PER_STATEMENT = 500;

interface StateRow {
  readonly campaignId: string;
  /** JSON text, as are those of the outcomes: it is parsed row by row. */
  readonly values: string;
  readonly system: string;
  readonly updatedAt: Date;
}

interface OutcomeRow {
  readonly campaignId: string;
  readonly key: string;
  readonly createdAt: Date;
  /** With the microseconds that a Date has no room for. */
  readonly exactly: string;
  readonly mutations: string;
}

/**
 * A person's states behind a campaign ($3), one campaign after the other, until they weigh $5 bytes or are $4; one at least, if there
 * is one. Each is looked up when those before it leave room.
 */
const READ_STATES_OF_PERSON = `
  WITH RECURSIVE page AS (
    SELECT 0 AS place, 0::bigint AS bytes, $3::text AS campaign_id, NULL::text AS values, NULL::text AS system,
      NULL::timestamptz AS updated_at
    UNION ALL
    SELECT p.place + 1, p.bytes + octet_length(s.values), s.campaign_id, s.values, s.system, s.updated_at
    FROM page p CROSS JOIN LATERAL (
      SELECT campaign_id, values::text AS values, system::text AS system, updated_at FROM participant_states
      WHERE tenant_id = $1 AND subject = $2 AND campaign_id > p.campaign_id ORDER BY campaign_id LIMIT 1
    ) s
    WHERE p.place < $4 AND p.bytes < $5
  )
  SELECT campaign_id AS "campaignId", values, system, updated_at AS "updatedAt" FROM page WHERE place > 0 ORDER BY place`;

/** The same of the outcomes of their mutations, behind a campaign, a key and a time ($3 to $5). */
const READ_OUTCOMES_OF_PERSON = `
  WITH RECURSIVE page AS (
    SELECT 0 AS place, 0::bigint AS bytes, $3::text AS campaign_id, $4::text AS mutation_key, $5::timestamptz AS created_at,
      NULL::text AS mutations
    UNION ALL
    SELECT p.place + 1, p.bytes + octet_length(o.mutations), o.campaign_id, o.mutation_key, o.created_at, o.mutations
    FROM page p CROSS JOIN LATERAL (
      SELECT campaign_id, mutation_key, created_at, mutations::text AS mutations FROM mutation_outcomes
      WHERE tenant_id = $1 AND subject = $2
        AND (campaign_id, mutation_key, created_at) > (p.campaign_id, p.mutation_key, p.created_at)
      ORDER BY campaign_id, mutation_key, created_at LIMIT 1
    ) o
    WHERE p.place < $6 AND p.bytes < $7
  )
  SELECT campaign_id AS "campaignId", mutation_key AS key, created_at AS "createdAt", created_at::text AS exactly, mutations
  FROM page WHERE place > 0 ORDER BY place`;

/** What the runtime keeps of persons: their own values in every campaign, and the stored outcomes of their mutations. */
@Injectable()
export class StateOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'runtime';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
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

  /** A participant may have mutated state a million times: some outcomes a statement, each a transaction. */
  async eraseAhead({ tenantId, subject }: Person, steps: ErasureSteps): Promise<boolean> {
    if (subject === null) return true;
    for (let erased = OUTCOMES_PER_STATEMENT; erased === OUTCOMES_PER_STATEMENT;) {
      steps.goOn();
      [, erased] = await this.database.query<[unknown, number]>(
        `DELETE FROM mutation_outcomes o USING (
           SELECT campaign_id, mutation_key, created_at FROM mutation_outcomes
           WHERE tenant_id = $1 AND subject = $2 LIMIT $3
         ) few
         WHERE o.tenant_id = $1 AND o.subject = $2 AND o.campaign_id = few.campaign_id
           AND o.mutation_key = few.mutation_key AND o.created_at = few.created_at`,
        [tenantId, subject, OUTCOMES_PER_STATEMENT],
      );
    }
    return true;
  }

  /** The few outcomes that have come since, and the values themselves. */
  async erase(manager: EntityManager, { tenantId, subject }: Person): Promise<void> {
    if (subject === null) return;
    // The participant's rows first, in the order in which mutations lock them: behind them no outcome is on its way.
    await manager.query(
      `SELECT 1 FROM participant_states WHERE tenant_id = $1 AND subject = $2
       ORDER BY campaign_id COLLATE "C" FOR UPDATE`,
      [tenantId, subject],
    );
    for (const table of ['participant_states', 'mutation_outcomes']) {
      await manager.query(`DELETE FROM ${table} WHERE tenant_id = $1 AND subject = $2`, [tenantId, subject]);
    }
  }

  private async *statesOf(tenantId: string, subject: string): AsyncIterable<PersonalRecord> {
    for (let after = ''; ;) {
      const rows: StateRow[] = await this.database.query(READ_STATES_OF_PERSON, [
        ...[tenantId, subject, after, ROWS_PER_PAGE, PAGE_BYTES_MAX],
      ]);
      for (const { campaignId, values, system, updatedAt } of rows) {
        const data = {
          campaignId,
          values: JSON.parse(values) as object,
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
        ...[tenantId, subject, ...after, ROWS_PER_PAGE, PAGE_BYTES_MAX],
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
