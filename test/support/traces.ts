import { withClient } from './database';

/** Every place in the database, as `table: text`, where one of the texts stands, in whatever case. */
export async function placesOf(databaseUrl: string, texts: readonly string[]): Promise<string[]> {
  return withClient(databaseUrl, async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
    );
    const places: string[] = [];
    for (const { name } of tables.rows) {
      const found = await client.query<{ text: string }>(
        `SELECT text FROM ${name} AS row CROSS JOIN unnest($1::text[]) AS text
         WHERE strpos(lower(row::text), lower(text)) > 0
         GROUP BY text ORDER BY array_position($1::text[], text)`,
        [texts],
      );
      places.push(...found.rows.map(({ text }) => `${name}: ${text}`));
    }
    return places;
  });
}
