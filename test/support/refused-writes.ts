import { rowsOf } from './database';

/** Has the database refuse an INSERT or UPDATE of those rows of a table for which `condition` (on NEW) holds, until it is undone. */
export async function refuseWrites(
  url: string,
  table: string,
  condition: string,
  sqlState = 'P0001',
): Promise<{ undo(): Promise<void> }> {
  await rowsOf(
    url,
    `CREATE OR REPLACE FUNCTION test_refuse() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${sqlState}'; END $$`,
  );
  await rowsOf(
    url,
    `CREATE OR REPLACE TRIGGER test_refuse BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW
     WHEN (${condition}) EXECUTE FUNCTION test_refuse()`,
  );
  return {
    undo: async () => {
      await rowsOf(url, `DROP TRIGGER test_refuse ON ${table}`);
    },
  };
}
