import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import {
  PersonalData,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../platform/personal-data/personal-data';
import { ParticipantState } from './entities/participant-state.entity';

const OUTCOMES_PER_PAGE = 500;

interface OutcomeRow {
  readonly campaignId: string;
  readonly key: string;
  readonly createdAt: Date;
  /** With the microseconds that a Date has no room for. */
  readonly exactly: string;
  readonly mutations: unknown;
}

/** What the runtime keeps of persons: their own values in every campaign, and the stored outcomes of their mutations. */
@Injectable()
export class StateOfPerson implements PersonalDataKeeper, OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf({ tenantId, subject }: Person): AsyncIterable<PersonalRecord> {
    if (subject === null) return;
    const states = await this.database.manager.find(ParticipantState, {
      where: { tenantId, subject },
      order: { campaignId: 'ASC' },
    });
    for (const { campaignId, values, system, updatedAt } of states) {
      yield { record: 'participant_state', data: { campaignId, values, system, updatedAt } };
    }
    yield* this.outcomesOf(tenantId, subject);
  }

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

  private async *outcomesOf(tenantId: string, subject: string): AsyncIterable<PersonalRecord> {
    for (let after: unknown[] = ['', '', '-infinity']; ;) {
      const rows: OutcomeRow[] = await this.database.query(
        `SELECT campaign_id AS "campaignId", mutation_key AS key, created_at AS "createdAt", created_at::text AS exactly,
           mutations
         FROM mutation_outcomes
         WHERE tenant_id = $1 AND subject = $2 AND (campaign_id, mutation_key, created_at) > ($3, $4, $5)
         ORDER BY campaign_id, mutation_key, created_at LIMIT $6`,
        [tenantId, subject, ...after, OUTCOMES_PER_PAGE],
      );
      for (const { campaignId, createdAt, mutations } of rows) {
        yield { record: 'mutation_outcome', data: { campaignId, createdAt, mutations } };
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < OUTCOMES_PER_PAGE) return;
      after = [last.campaignId, last.key, last.exactly];
    }
  }
}
