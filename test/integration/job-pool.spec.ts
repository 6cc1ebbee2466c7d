import { openJobPool } from '../../src/platform/jobs/job-pool';
import { freshDatabaseUrl } from '../support/database';

let url: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('job_pool');
});

it('a connection that is released twice, as the job library may do, harms neither the process nor the pool', async () => {
  const pool = openJobPool({ url }, 1);
  try {
    await new Promise<void>((resolve, reject) => {
      pool.connect((error, _client, release) => {
        if (error !== undefined) {
          reject(error);
          return;
        }
        release();
        release();
        resolve();
      });
    });
    expect([(await pool.query('SELECT 1 AS one')).rows, pool.totalCount]).toEqual([[{ one: 1 }], 1]);
  } finally {
    await pool.end();
  }
});

it('a connection that an ended pool does not give can be released, as the job library does when it stops', async () => {
  const pool = openJobPool({ url }, 1);
  await pool.end();
  const refused = new Promise<Error | undefined>((resolve) => {
    pool.connect((error, _client, release) => {
      release();
      resolve(error);
    });
  });
  expect(await refused).toMatchObject({ message: 'Cannot use a pool after calling end on the pool' });
});
