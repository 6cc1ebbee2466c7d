import fc from 'fast-check';
import { databaseFailure } from '../../src/platform/postgres/database-errors';
import type { Statement } from '../../src/platform/postgres/statement';
import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { databaseOf, freshDatabaseUrl, withClient } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';

const OPTIONS = { applicationName: 'cds-pipeline', lockTimeoutMs: 1_000, statementTimeoutMs: 2_000 };

let url: string;
let connection: PipelinedConnection;
let number = 0;

beforeAll(async () => {
  url = await freshDatabaseUrl('pipeline');
  await withClient(url, (client) => client.query('CREATE TABLE things (id int PRIMARY KEY, name text)'));
});
beforeEach(() => {
  connection = new PipelinedConnection({ url }, OPTIONS);
});
afterEach(() => connection.close());

const statement = (text: string): Statement => ({ name: `test_${(number += 1)}`, text });
const things = async (): Promise<unknown[]> =>
  withClient(url, async (client) => (await client.query('SELECT id, name FROM things ORDER BY id')).rows);
const ADD = statement('INSERT INTO things VALUES ($1, $2) RETURNING id');
const FAIL = statement('SELECT 1 / $1::int AS quotient');
const BACKEND = statement('SELECT pg_backend_pid() AS pid');

describe('values', () => {
  const ECHO = statement(`SELECT $1::text AS text, $2::text[] AS texts, $3::jsonb AS json, $4::bytea AS bytes,
    $5::float8[] AS numbers, $6::bytea[] AS many_bytes, $7::timestamptz AS at, $8::bool AS flag`);
  const text = fc.string({ unit: 'binary' }).filter((each) => !each.includes('\0') && each.isWellFormed());

  it('compiles no plans, though the server would', async () => {
    const setting = { name: 'test_jit', text: `SELECT setting, boot_val FROM pg_settings WHERE name = 'jit'` };
    expect(await connection.query(setting, [])).toEqual([{ setting: 'off', boot_val: 'on' }]);
  });

  it('come back as they were sent, whatever they are', async () => {
    const bytes = fc.uint8Array().map((each) => Buffer.from(each));
    const number64 = fc.double({ noNaN: true }).map((each) => each + 0);
    const values = fc.record({
      text: fc.option(text),
      texts: fc.array(fc.option(text)),
      json: fc.dictionary(text, text),
      bytes,
      numbers: fc.array(number64),
      many_bytes: fc.array(bytes),
      flag: fc.boolean(),
      at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    });
    await fc.assert(
      fc.asyncProperty(values, async (sent) => {
        const [got] = await connection.query(ECHO, [
          ...[sent.text, sent.texts, sent.json, sent.bytes, sent.numbers, sent.many_bytes, sent.at, sent.flag],
        ]);
        expect(got).toEqual(sent);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a transaction', () => {
  it('sends what is asked at once in one piece, and answers each statement its own rows', async () => {
    const SELECT = statement('SELECT n FROM generate_series(1, $1::int) n');
    const NONE = statement('SELECT 1 AS n WHERE $1');
    await connection.transaction(async (open) => {
      for (let round = 0; round < 3; round += 1) {
        const answers = await Promise.all([open.send(SELECT, [2]), open.send(NONE, [false]), open.send(SELECT, [1])]);
        expect(answers).toEqual([[{ n: 1 }, { n: 2 }], [], [{ n: 1 }]]);
      }
    });
  });

  it('runs statements in the order of the calls, those without an answer along with COMMIT', async () => {
    await connection.transaction(async (open) => {
      open.sendLast(ADD, [1, 'one']);
      open.sendLast(statement(`UPDATE things SET name = name || '!' WHERE id = $1`), [1]);
      await open.send(statement('SELECT 1'), []);
    });
    expect(await things()).toEqual([{ id: 1, name: 'one!' }]);
  });

  it('keeps nothing when one of its statements fails, and tells the error of that one', async () => {
    const before = await things();
    const failing = connection.transaction((open) =>
      Promise.all([open.send(ADD, [2, 'two']), open.send(FAIL, [0]), open.send(ADD, [3, 'three'])]),
    );
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    const failingLast = connection.transaction((open) => {
      open.sendLast(ADD, [4, 'four']);
      open.sendLast(FAIL, [0]);
      return Promise.resolve();
    });
    await expect(failingLast).rejects.toMatchObject({ code: '22012' });
    expect(await things()).toEqual(before);
  });

  it('has nothing more sent once it is over', async () => {
    let late: (() => Promise<unknown>) | undefined;
    const failing = connection.transaction(async (open) => {
      late = () => open.send(ADD, [5, 'late']);
      await open.send(FAIL, [0]);
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    await expect(late!()).rejects.toThrow('over');
    await expect(connection.query(FAIL, [1])).resolves.toEqual([{ quotient: 1 }]);
  });
});

describe('a transaction that is given up', () => {
  it('is rolled back behind a statement that fails, and costs no new connection', async () => {
    const before = await Promise.all([things(), connection.query(BACKEND, [])]);
    const failing = connection.transaction((open) => {
      open.sendLast(ADD, [6, 'six']);
      open.sendLast(FAIL, [0]);
      throw new Error('given up');
    });
    await expect(failing).rejects.toThrow('given up');
    expect(await Promise.all([things(), connection.query(BACKEND, [])])).toEqual(before);
  });
});

describe('a statement that has failed', () => {
  it('goes through afterwards, also when it failed the first time it was sent, and so do those behind it', async () => {
    const AFTER = statement('SELECT $1::int AS n');
    await expect(
      connection.transaction((open) => Promise.all([open.send(FAIL, [0]), open.send(AFTER, [1])])),
    ).rejects.toMatchObject({ code: '22012' });
    await expect(
      connection.transaction((open) => Promise.all([open.send(FAIL, [1]), open.send(AFTER, [1])])),
    ).resolves.toEqual([[{ quotient: 1 }], [{ n: 1 }]]);
  });

  it('because its text is wrong fails with that error each time', async () => {
    const WRONG = statement('SELECT nothing FROM nowhere');
    for (let round = 0; round < 3; round += 1) {
      await expect(connection.query(WRONG, [])).rejects.toMatchObject({ code: '42P01' });
    }
  });

  it('because the columns of a table have changed goes through the next time', async () => {
    await withClient(url, (client) => client.query('CREATE TABLE changing (a int); INSERT INTO changing VALUES (1)'));
    const READ = statement('SELECT * FROM changing');
    expect(await connection.query(READ, [])).toEqual([{ a: 1 }]);
    await withClient(url, (client) => client.query(`ALTER TABLE changing ADD b text DEFAULT 'new'`));
    await expect(connection.query(READ, [])).rejects.toMatchObject({ code: '0A000' });
    expect(await connection.query(READ, [])).toEqual([{ a: 1, b: 'new' }]);
  });

  it('by itself costs no other that is asked at the same time its answer', async () => {
    const ONE = statement('SELECT 1 AS one');
    const answers = await Promise.allSettled([
      ...[connection.query(ONE, []), connection.query(FAIL, [0]), connection.query(ONE, [])],
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('a connection', () => {
  it('that is lost answers everybody who waits, and is opened again', async () => {
    const WAIT = statement('SELECT pg_terminate_backend(pg_backend_pid())');
    const lost = connection.transaction((open) => Promise.all([open.send(WAIT, []), open.send(ADD, [6, 'six'])]));
    const error: unknown = await lost.then(undefined, (reason: unknown) => reason);
    expect(databaseFailure(error)).toBe('away');
    await expect(connection.query(FAIL, [1])).resolves.toEqual([{ quotient: 1 }]);
  });

  it('that is lost at the moment of its opening is opened again', async () => {
    const proxy = await startFaultProxy(url);
    const behind = new PipelinedConnection({ url: proxy.urlOf(databaseOf(url)) }, OPTIONS);
    try {
      const ended = proxy.endNextSession();
      await behind.query(BACKEND, []).catch(() => undefined);
      await ended;
      expect(await behind.query(BACKEND, [])).toHaveLength(1);
    } finally {
      await behind.close();
      await proxy.close();
    }
  });

  it('that does not answer in time is given up', async () => {
    const slow = new PipelinedConnection({ url }, { ...OPTIONS, statementTimeoutMs: 100 });
    try {
      // The server's own limit does not hold for a statement that takes it away.
      const KEEP = statement('SELECT set_config($1, $2, false)');
      await slow.query(KEEP, ['statement_timeout', '0']);
      const startedAt = performance.now();
      const error: unknown = await slow.query(statement('SELECT pg_sleep(8)'), []).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(databaseFailure(error)).toBe('away');
      expect(performance.now() - startedAt).toBeLessThan(6_000);
    } finally {
      await slow.close();
    }
  });
});
