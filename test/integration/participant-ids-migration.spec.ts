import { randomUUID } from 'node:crypto';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { freshDatabaseUrl, rowsOf } from '../support/database';

const ROWS = 2_500;

it('gives every participant that is there an id of the last change, beside a version that knows of none', async () => {
  const url = await freshDatabaseUrl('participant_ids');
  const tenantId = randomUUID();
  const run = (text: string, values: readonly unknown[] = []) =>
    rowsOf<{ id: string; subject: string }>(url, text, values);
  // As the version before has left it.
  await run('DROP INDEX participant_states_campaign_idx');
  await run('ALTER TABLE participant_states DROP COLUMN id');
  await run(`DELETE FROM migrations WHERE name = 'ParticipantIds1764000000019'`);
  await run(
    `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
     SELECT CASE WHEN n % 2 = 0 THEN $1::uuid ELSE gen_random_uuid() END, 'p' || n, 'spring', '{}', '{}',
       '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second'
     FROM generate_series(1, $2::int) n`,
    [tenantId, ROWS],
  );
  await migrate({ url });
  const rows = await run('SELECT id, subject FROM participant_states ORDER BY id');
  expect(rows.map(({ subject }) => subject)).toEqual(Array.from({ length: ROWS }, (_, n) => `p${n + 1}`));
  for (const { id } of rows)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(rows[0]!.id.replaceAll('-', '').slice(0, 12), 16)).toBe(Date.parse('2026-01-01T00:00:01Z'));

  // An interrupted run is begun again, and changes no id that is there.
  await run(`DELETE FROM migrations WHERE name = 'ParticipantIds1764000000019'`);
  await migrate({ url });
  expect(await run('SELECT id, subject FROM participant_states ORDER BY id')).toEqual(rows);

  await run(
    `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
     VALUES ($1, 'new', 'spring', '{}', '{}', now())`,
    [tenantId],
  );
  expect((await run('SELECT id, subject FROM participant_states ORDER BY id DESC LIMIT 1'))[0]?.subject).toBe('new');
});
