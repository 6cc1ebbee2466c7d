import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';

/** Stands between a node and PostgreSQL and loses connections at the moment that matters. */
export interface FaultProxy {
  /** The address of a database by way of the proxy. */
  urlOf(database: string): string;
  /** Delivers the next COMMIT that passes and cuts the line before its answer. */
  loseNextCommitAnswer(): Promise<void>;
  /** Cuts the line when the next COMMIT passes, without delivering it. */
  loseNextCommit(): Promise<void>;
  /**
   * Takes the next connection, behind so many others, and stays silent, as a server does under load. Resolves once the client has
   * given it up.
   */
  holdConnection(behind: number): Promise<void>;
  /** The server ends the next session in the very piece that says that its settings are set. */
  endNextSession(): Promise<void>;
  /** Cuts every line and takes no new one, as if the server were gone, until it is called with false. */
  setAway(away: boolean): void;
  /** Every line that is open now stays open and carries nothing any more, as if its server had vanished; new lines work. */
  fallSilent(): void;
  close(): Promise<void>;
}

type Fault = { readonly deliver: boolean; readonly done: () => void };

/** The name of the statement, as it is bound. */
const COMMIT = Buffer.from('COMMIT\0');
/** The column of its answer. */
const SETTINGS_SET = Buffer.from('set_config\0');
const SESSION_ENDED = errorResponse(
  'SFATAL',
  'VFATAL',
  'C57P01',
  'Mterminating connection due to administrator command',
);

export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const server = new URL(serverUrl.replace('@/', '@localhost/'));
  const folder = server.searchParams.get('host');
  const port = Number(server.searchParams.get('port') ?? (server.port || '5432'));
  const address = folder === null ? { host: server.hostname, port } : { path: join(folder, `.s.PGSQL.${port}`) };
  let fault: Fault | undefined;
  const lines = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  let isAway = false;
  let sessionEnded: (() => void) | undefined;
  let held: { behind: number; readonly givenUp: () => void } | undefined;
  const proxy = createServer((client) => {
    if (isAway) return void client.destroy();
    if (held?.behind === 0) {
      // Read, so that its end is noticed.
      client
        .on('error', () => undefined)
        .on('close', held.givenUp)
        .resume();
      held = undefined;
      return;
    }
    if (held !== undefined) held.behind -= 1;
    const upstream = connect(address);
    for (const socket of [client, upstream]) {
      lines.add(socket);
      socket.on('error', () => undefined).on('close', () => lines.delete(socket));
    }
    const answer = (data: Buffer): void => {
      if (silent.has(client)) return;
      if (sessionEnded === undefined || !data.includes(SETTINGS_SET)) return void client.write(data);
      client.end(Buffer.concat([data, SESSION_ENDED]), sessionEnded);
      sessionEnded = undefined;
    };
    upstream.on('data', answer).on('close', () => client.destroy());
    client.on('data', (data) => {
      if (silent.has(client)) return;
      const due = data.includes(COMMIT) ? fault : undefined;
      if (due === undefined) return void upstream.write(data);
      fault = undefined;
      if (due.deliver) upstream.write(data);
      client.destroy();
      // The server must read COMMIT before it notices that the client is gone.
      if (!due.deliver) upstream.destroy();
      due.done();
    });
    client.on('close', () => setTimeout(() => upstream.destroy(), 200));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port: proxyPort } = proxy.address() as AddressInfo;
  const arm = (deliver: boolean) =>
    new Promise<void>((resolve) => {
      fault = { deliver, done: resolve };
    });
  return {
    urlOf: (database) => `postgresql://${server.username}@127.0.0.1:${proxyPort}/${database}`,
    loseNextCommitAnswer: () => arm(true),
    loseNextCommit: () => arm(false),
    endNextSession: () => new Promise((ended) => (sessionEnded = ended)),
    holdConnection: (behind) => new Promise((givenUp) => (held = { behind, givenUp })),
    setAway: (away) => {
      isAway = away;
      if (away) for (const socket of lines) socket.destroy();
    },
    fallSilent: () => {
      for (const socket of lines) silent.add(socket);
    },
    close: async () => {
      for (const socket of lines) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

/** A message of the server; each field begins with the letter of its kind. */
function errorResponse(...fields: readonly string[]): Buffer {
  const body = Buffer.from(`${fields.join('\0')}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}
