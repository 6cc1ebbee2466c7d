import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { checkServer, versionProblem } from '../../src/platform/postgres/check-server';
import { databaseProblem } from '../../src/platform/postgres/database-problem';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/postgres/embedded/embedded-postgres';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { withClient } from '../support/database';
import { selfSigned, type ServerIdentity } from '../support/self-signed';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');
const START_MS_MAX = 300_000;
const PASSWORD = 'right-password';
const NOTHING_OF_THE_ADDRESS = /password@|right-password|wrong-password|weak|127\.0\.0\.1|stranger/;
const HBA = `local all all trust
host all stranger 127.0.0.1/32 reject
host all weak 127.0.0.1/32 scram-sha-256
host all few 127.0.0.1/32 scram-sha-256
host all newer 127.0.0.1/32 scram-sha-256
`;

let folder: string;
let server: EmbeddedPostgres;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-refusals-'));
  // The server may run as another user than this process.
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'hba'), HBA);
  await chmod(join(folder, 'hba'), 0o644);
  port = await freePort();
  const settings = { hba_file: join(folder, 'hba'), listen_addresses: '127.0.0.1', fsync: 'off', port: String(port) };
  server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined, settings });
  await withClient(server.url, async (client) => {
    for (const role of ['weak', 'stranger', 'few', 'owner']) {
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
    }
    await client.query('ALTER ROLE few CONNECTION LIMIT 0');
    await client.query('CREATE DATABASE weak_own');
    await client.query('GRANT CREATE ON DATABASE weak_own TO weak');
  });
}, START_MS_MAX);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}, START_MS_MAX);

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port: free } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return free;
}

/** What the service ends with when it is started on this database. */
async function startOn(databaseUrl: string, args: readonly string[] = []): Promise<{ code: unknown; said: string }> {
  const env = { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'error', DATABASE_URL: databaseUrl };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env, timeout: START_MS_MAX }, (error, _stdout, stderr) => {
      resolve({
        code: error?.code ?? 0,
        said: stderr
          .split('\n')
          .filter((line) => !line.startsWith('('))
          .join('\n'),
      });
    });
  });
}

/** The same of the steps of a start that ask the database, in this process. */
async function refusalOf(url: string): Promise<string> {
  const failure = await checkServer({ url })
    .then(() => migrate({ url }))
    .then(() => undefined, databaseProblem);
  return failure ?? 'The start went on, or its error is not known.';
}

function addressOf(user: string, { password = PASSWORD, database = 'weak_own', query = '' } = {}): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}${query}`;
}

/** A server that speaks TLS under this identity, and never gets further than that. */
async function aTlsServer(identity: ServerIdentity): Promise<Server> {
  const secureContext = createSecureContext(identity);
  const listener = createServer((socket: Socket) => {
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => socket.destroy());
    });
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return listener;
}

describe('a start that its database refuses ends with 1 and one line, which says what to do and repeats nothing', () => {
  it.each([
    ['a wrong password', () => addressOf('weak', { password: 'wrong-password' }), /rejected the user or the password/],
    ['no password', () => `postgresql://weak@127.0.0.1:${port}/weak_own`, /asks for a password/],
    ['a database that is not there', () => addressOf('weak', { database: 'nowhere' }), /does not exist\. Create it/],
    ['no entry in pg_hba.conf', () => addressOf('unheard'), /without TLS \(no entry in pg_hba\.conf\)/],
    ['an entry that rejects', () => addressOf('stranger'), /admits no such connection .*pg_hba\.conf/],
    ['a role that is not there', () => addressOf('newer'), /rejected the user or the password/],
    ['no right to make tables', () => addressOf('weak'), /may not create tables in the schema "public"/],
    ['no connection left', () => addressOf('few'), /no connection left\. Raise/],
    [
      'TLS where there is none',
      () => addressOf('weak', { query: '?sslmode=verify-full' }),
      /asks for TLS.*offers none/,
    ],
    ['nothing that listens', () => 'postgresql://weak:right-password@127.0.0.1:1/x', /Nothing listens/],
    ['a host without an address', () => 'postgresql://weak:right-password@db.invalid/x', /has no address/],
  ])('%s', async (_, address, words) => {
    const said = await refusalOf(address());
    expect(said).toMatch(words);
    expect(said).not.toMatch(NOTHING_OF_THE_ADDRESS);
  });

  it(
    'as the process that an operator starts',
    async () => {
      const { code, said } = await startOn(addressOf('weak', { password: 'wrong-password' }));
      expect([code, said]).toEqual([
        1,
        expect.stringMatching(/^The service cannot start\. PostgreSQL rejected [^\n]*\n$/),
      ]);
      expect(said).not.toMatch(NOTHING_OF_THE_ADDRESS);
    },
    START_MS_MAX,
  );

  it(
    'a certificate that nobody knows, and one of another host',
    async () => {
      const identity = selfSigned('db.example.com');
      const authority = join(folder, 'authority.pem');
      await writeFile(authority, identity.cert);
      const listener = await aTlsServer(identity);
      const { port: tlsPort } = listener.address() as AddressInfo;
      const address = `postgresql://weak:${PASSWORD}@localhost:${tlsPort}/x?sslmode=verify-full`;
      try {
        expect(await refusalOf(address)).toMatch(/self-signed.*sslrootcert/);
        expect(await refusalOf(`${address}&sslrootcert=${authority}`)).toMatch(/is for another host/);
      } finally {
        listener.close();
      }
    },
    START_MS_MAX,
  );

  it('a version that is too old', () => {
    expect(versionProblem({ version: '14.12', major: 14 })).toMatch(/14\.12 is too old: 15 or newer/);
    expect(versionProblem({ version: '15.0', major: 15 })).toBeUndefined();
  });
});

it.each([['migrat'], ['--port', '4000'], ['migrate', 'postgresql://weak:right-password@127.0.0.1/x']])(
  'a start with arguments that the service does not take ends with 2: %s',
  async (...args) => {
    const { code, said } = await startOn(addressOf('weak'), args);
    expect([code, said]).toEqual([
      2,
      expect.stringMatching(/^The service takes no arguments except the command migrate\./),
    ]);
  },
);
