import type { MigrationInterface, QueryRunner } from 'typeorm';

const ROWS_PER_STEP = 1_000;

/** A UUIDv7 of a time, as SQL; the service makes its own (`newId`), this is for rows that come without one. */
const idAt = (time: string): string => `(
  lpad(to_hex((date_part('epoch', ${time}) * 1000)::bigint), 12, '0') || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14)
)::uuid`;

/** The next rows behind a key, in the order of the key; answers the last one. Those that have an id keep it. */
const FILL = `
  WITH step AS (
    SELECT tenant_id, subject, campaign_id FROM participant_states
    WHERE (tenant_id, subject, campaign_id) > ($1::uuid, $2::text, $3::text)
    ORDER BY tenant_id, subject, campaign_id LIMIT ${ROWS_PER_STEP}
  ), filled AS (
    UPDATE participant_states p SET id = ${idAt('p.updated_at')} FROM step s
    WHERE p.tenant_id = s.tenant_id AND p.subject = s.subject AND p.campaign_id = s.campaign_id
      AND p.id = '00000000-0000-0000-0000-000000000000'
  )
  SELECT tenant_id, subject, campaign_id FROM step ORDER BY tenant_id DESC, subject DESC, campaign_id DESC LIMIT 1`;

interface Key {
  readonly tenant_id: string;
  readonly subject: string;
  readonly campaign_id: string;
}

/** By which participants of a campaign are listed, the newest first. Those that are there are as old as their last change. */
export class ParticipantIds1764000000019 implements MigrationInterface {
  readonly name = 'ParticipantIds1764000000019';
  /** In steps, each a transaction of its own: the version before serves meanwhile. Every step may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    await runner.query(`ALTER TABLE participant_states
      ADD COLUMN IF NOT EXISTS id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'`);
    // For rows of the version before, which knows nothing of the column.
    await runner.query(`ALTER TABLE participant_states ALTER COLUMN id SET DEFAULT ${idAt('clock_timestamp()')}`);
    for (let after: Key | undefined = BEFORE_ALL; after !== undefined;) {
      const rows = (await runner.query(FILL, [after.tenant_id, after.subject, after.campaign_id])) as readonly Key[];
      after = rows[0];
    }
    // A build that was interrupted leaves an index that is not valid.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS participant_states_campaign_idx`);
    await runner.query(`SET lock_timeout = 0`);
    await runner.query(`CREATE INDEX CONCURRENTLY participant_states_campaign_idx
      ON participant_states (tenant_id, campaign_id, id) WHERE subject <> ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX participant_states_campaign_idx`);
    await runner.query(`ALTER TABLE participant_states DROP COLUMN id`);
  }
}

const BEFORE_ALL: Key = { tenant_id: '00000000-0000-0000-0000-000000000000', subject: '', campaign_id: '' };
