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
        `SELECT text FROM unnest($1::text[]) AS text
         WHERE EXISTS (SELECT 1 FROM ${name} AS row WHERE strpos(lower(row::text), lower(text)) > 0)`,
        [texts],
      );
      places.push(...found.rows.map(({ text }) => `${name}: ${text}`));
    }
    return places;
  });
}
