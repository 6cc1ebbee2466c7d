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
      // OFFSET 0: the text of a row is made once, and not for each text that is looked for.
      const found = await client.query<{ text: string }>(
        `SELECT text FROM (SELECT lower(row::text) AS content FROM ${name} AS row OFFSET 0) AS rows
         CROSS JOIN unnest($1::text[], $2::text[]) AS wanted (text, lowered)
         WHERE strpos(content, lowered) > 0
         GROUP BY text ORDER BY array_position($1::text[], text)`,
        [texts, texts.map((text) => text.toLowerCase())],
      );
      places.push(...found.rows.map(({ text }) => `${name}: ${text}`));
    }
    return places;
  });
}
