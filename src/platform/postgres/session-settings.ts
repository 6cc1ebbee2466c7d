import type { ClientBase } from 'pg';

/** Beyond it the server or the network is gone. */
const ANSWER_MS_MAX = 2_000;

/** Settings of PostgreSQL by their names; times are milliseconds. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Sets what holds for a session from now on. Not in the start-up message, as `pg` would do it: poolers refuse what they do not
 * know there, and an operator would have to list our settings in theirs (docs/adr/0055).
 */
export async function applySessionSettings(client: ClientBase, settings: SessionSettings): Promise<void> {
  const statement = {
    text: 'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting(name, value)',
    values: [Object.keys(settings), Object.values(settings).map(String)],
    query_timeout: ANSWER_MS_MAX,
  };
  await client.query(statement);
}
