import { randomUUID } from 'node:crypto';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { freshDatabaseUrl, rowsOf } from '../support/database';

const [ONE, OTHER] = [randomUUID(), randomUUID()];

it('gives what stands under a subject with blanks around it to the trimmed one, of each workspace and campaign', async () => {
  const url = await freshDatabaseUrl('trimmed_subjects');
  await rowsOf(url, `DELETE FROM migrations WHERE name = 'TrimmedSubjects1764000000017'`);
  const put = (tenantId: string, subject: string, campaignId: string, values: object, day: number) =>
    rowsOf(url, `INSERT INTO participant_states VALUES ($1, $2, $3, $4, '{}', '2026-01-01'::date + $5::int)`, [
      ...[tenantId, subject, campaignId, JSON.stringify(values), day],
    ]);
  await put(ONE, 'ann', 'spring', { points: 1 }, 1);
  await put(ONE, ' ann\u00a0', 'spring', { points: 2, coins: 2 }, 2);
  await put(ONE, '\tann', 'spring', { coins: 3, gems: 3 }, 3);
  await put(ONE, '\u200bann', 'summer', { points: 4 }, 4);
  await put(OTHER, '\ufeffann ', 'spring', { points: 5 }, 5);
  await put(OTHER, 'a nn', 'spring', { points: 6 }, 6);
  await put(OTHER, ' ', 'spring', { points: 7 }, 7);
  await rowsOf(url, `CREATE TABLE outcomes_of_a_week PARTITION OF mutation_outcomes DEFAULT`);
  await rowsOf(
    url,
    `INSERT INTO mutation_outcomes
     SELECT $1, s, 'spring', 'client:' || n, now(), '\\x00', '[]', gen_random_uuid()
     FROM unnest($2::text[]) WITH ORDINALITY AS u (s, n)`,
    [ONE, ['ann', ' ann', 'bob\n', ' ']],
  );
  await migrate({ url });
  const states = await rowsOf<object>(
    url,
    `SELECT tenant_id = $1 AS one, subject, campaign_id, values FROM participant_states ORDER BY 1 DESC, 2, 3`,
    [ONE],
  );
  expect(states.map((row) => Object.values(row))).toEqual([
    [true, 'ann', 'spring', { points: 1, coins: 3, gems: 3 }],
    [true, 'ann', 'summer', { points: 4 }],
    [false, ' ', 'spring', { points: 7 }],
    [false, 'a nn', 'spring', { points: 6 }],
    [false, 'ann', 'spring', { points: 5 }],
  ]);
  const outcomes = await rowsOf<{ subject: string }>(
    url,
    'SELECT subject FROM mutation_outcomes ORDER BY mutation_key',
  );
  expect(outcomes.map(({ subject }) => subject)).toEqual(['ann', 'ann', 'bob', ' ']);
});
