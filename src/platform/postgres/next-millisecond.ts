import type { EntityManager } from 'typeorm';

/**
 * Waits for the next whole millisecond of the database's clock, and returns it. Times of receipt are whole milliseconds: events
 * that were answered before this call were received earlier, and events that are sent after it were not.
 */
export async function nextMillisecond(manager: EntityManager): Promise<Date> {
  const [row]: { at: Date }[] = await manager.query(
    `SELECT n.at FROM (SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' AS at) n
     CROSS JOIN LATERAL pg_sleep_until(n.at)`,
  );
  if (row === undefined) throw new Error('The database returned no time');
  return row.at;
}
