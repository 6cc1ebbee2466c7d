import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';

/** What becomes of bytes on their way to the server, and of the line: */
export type Fate =
  | 'pass'
  /** They never arrive. */
  | 'cut before'
  /** They arrive, and nothing comes back. */
  | 'cut after'
  /** They arrive, and half of what comes back first. */
  | 'cut within';

export interface LineOptions {
  /** Where the line leads now; undefined: nowhere. */
  readonly target: () => NetConnectOpts | undefined;
  readonly fate?: (bytes: Buffer) => Fate;
}

/** A stretch of network that loses connections where it is told to. */
export interface Line {
  readonly port: number;
  /** How many connections met which fate. */
  readonly cuts: Readonly<Record<Exclude<Fate, 'pass'>, number>>;
  /** Lets no byte through for so long; they arrive later. */
  stall(ms: number): Promise<void>;
  /** Loses every connection there is. */
  cutAll(): void;
  close(): Promise<void>;
}

/** The server must read what came before it notices that nobody is there any more. */
const LINGER_MS = 200;

export async function openLine({ target, fate = () => 'pass' }: LineOptions): Promise<Line> {
  const cuts = { 'cut before': 0, 'cut after': 0, 'cut within': 0 };
  const sockets = new Set<Socket>();
  let stalled = false;
  const server = createServer((client) => {
    const to = target();
    if (to === undefined) return void client.destroy();
    const upstream = connect(to);
    let current: Fate = 'pass';
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .setNoDelay(true)
        .on('error', () => undefined)
        .on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes: Buffer) => {
      if (current !== 'pass') return;
      current = fate(bytes);
      if (current !== 'pass') cuts[current] += 1;
      if (current !== 'cut before') upstream.write(bytes);
      if (current === 'cut before' || current === 'cut after') client.destroy();
      if (current === 'cut before') upstream.destroy();
    });
    upstream.on('data', (bytes: Buffer) => {
      if (current === 'pass') return void client.write(bytes);
      if (current === 'cut within') client.end(bytes.subarray(0, Math.floor(bytes.length / 2)), () => client.destroy());
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => setTimeout(() => upstream.destroy(), LINGER_MS).unref());
    if (stalled) for (const socket of [client, upstream]) socket.pause();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    cuts,
    cutAll,
    stall: async (ms) => {
      stalled = true;
      for (const socket of sockets) socket.pause();
      await new Promise((resolve) => setTimeout(resolve, ms));
      stalled = false;
      for (const socket of sockets) socket.resume();
    },
    close: async () => {
      server.close();
      cutAll();
      await once(server, 'close');
    },
  };
}
