import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What `trimBlank` trims: Unicode's White_Space, U+200B, U+2060 and U+FEFF. */
const BLANKS =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u2028\u2029' +
  '\u202f\u205f\u2060\u3000\ufeff';
const ROWS_PER_STEP = 1_000;
/** A subject of blanks alone was never a customer's, and no token has it any more. */
const IS_PADDED = `btrim(subject, $1) NOT IN (subject, '')`;

/** Where both are there, each variable keeps the value of the trimmed one. */
const MOVE_STATES = `
  WITH removed AS (
    DELETE FROM participant_states WHERE (tenant_id, subject, campaign_id) IN (
      SELECT DISTINCT ON (tenant_id, btrim(subject, $1), campaign_id) tenant_id, subject, campaign_id
      FROM participant_states WHERE ${IS_PADDED}
      ORDER BY tenant_id, btrim(subject, $1), campaign_id, updated_at DESC LIMIT $2
    ) RETURNING *
  ), moved AS (
    INSERT INTO participant_states AS kept (tenant_id, subject, campaign_id, values, system, updated_at)
    SELECT tenant_id, btrim(subject, $1), campaign_id, values, system, updated_at FROM removed
    ON CONFLICT ON CONSTRAINT participant_states_pkey DO UPDATE SET values = excluded.values || kept.values
    RETURNING 1
  )
  SELECT count(*)::int AS moved FROM moved LIMIT 1`;

const MOVE_OUTCOMES = `
  WITH moved AS (
    UPDATE mutation_outcomes SET subject = btrim(subject, $1)
    WHERE (tenant_id, subject, campaign_id, mutation_key, created_at) IN (
      SELECT tenant_id, subject, campaign_id, mutation_key, created_at FROM mutation_outcomes WHERE ${IS_PADDED} LIMIT $2
    ) RETURNING 1
  )
  SELECT count(*)::int AS moved FROM moved`;

/**
 * Gives the values and mutations of participants whose `sub` had blanks around it to the participant of the trimmed one, as
 * tokens are read from now on: so they stay readable, repeatable once, and are erased with the person.
 */
export class TrimmedSubjects1764000000017 implements MigrationInterface {
  readonly name = 'TrimmedSubjects1764000000017';
  /** In steps, each a transaction of its own: the version before serves meanwhile. Every step may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const move of [MOVE_STATES, MOVE_OUTCOMES]) {
      for (let isMore = true; isMore;) {
        const rows = (await runner.query(move, [BLANKS, ROWS_PER_STEP])) as { readonly moved: number }[];
        isMore = (rows[0]?.moved ?? 0) > 0;
      }
    }
  }

  /** What was moved reads the same for the version before, by its trimmed subject. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
