import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { IngestLoad } from '../../src/processing/ingest-load';
import { databaseUrl, withClient } from '../support/database';

const SAMPLES = 8;

let url: string;
let connection: PipelinedConnection;

beforeAll(async () => {
  url = await databaseUrl();
  const options = { applicationName: 'cds-test', lockTimeoutMs: 1_000, statementTimeoutMs: 5_000 };
  connection = new PipelinedConnection({ url }, options);
});
afterAll(() => connection.close());

/** The share after so many samples. */
async function shareAfter(load: IngestLoad, samples: number): Promise<number> {
  for (let taken = 0; taken < samples; taken += 1) await load.sample((...query) => connection.query(...query));
  return load.share;
}

describe('the load of ingest that a worker sees', () => {
  it('is whole until it has looked, and falls with each sample in which nothing is stored', async () => {
    const load = new IngestLoad({});
    expect(load.share).toBe(1);
    expect([await shareAfter(load, 2), await shareAfter(load, 2)]).toEqual([0.75, 0.5]);
    expect(await shareAfter(load, SAMPLES)).toBe(0);
  });

  it('is whole while a transaction of any session is storing events, and not while one reads them', async () => {
    const load = new IngestLoad({});
    await withClient(url, async (other) => {
      await other.query('BEGIN');
      await other.query('SELECT count(*) FROM events');
      expect(await shareAfter(load, SAMPLES)).toBe(0);
      // The lock that an INSERT takes.
      await other.query('LOCK TABLE events IN ROW EXCLUSIVE MODE');
      expect(await shareAfter(load, SAMPLES)).toBe(1);
      await other.query('COMMIT');
      expect(await shareAfter(load, SAMPLES)).toBe(0);
    });
  });
});
