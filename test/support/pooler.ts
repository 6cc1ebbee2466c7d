import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from 'pg';

/** Whose the session of a server is: its client's until that leaves, or for one transaction. */
export type PoolMode = 'session' | 'transaction';

export interface PoolerOptions {
  readonly mode: PoolMode;
  /** Takes everything back after each transaction (PgBouncer: server_reset_query_always). */
  readonly resetsAlways?: true;
}

export interface Pooler {
  /** The database, by way of the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/** What PgBouncer accepts in a start-up message by default; it refuses anything else. */
const KNOWN_PARAMETERS = new Set([
  'user',
  'database',
  'application_name',
  'client_encoding',
  'DateStyle',
  'TimeZone',
  'standard_conforming_strings',
]);
const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const RESET = 'DISCARD ALL';

/** A session of PostgreSQL, and how many of its answers are still to come. */
interface Server {
  readonly client: Client;
  readonly stream: Socket;
  owner: Socket | undefined;
  pending: number;
}

/** A message as it comes over the line, with its kind. */
interface Message {
  readonly kind: string;
  readonly bytes: Buffer;
}

/**
 * A pooler before the database of `url`, as PgBouncer is without any settings beyond `pool_mode`: it refuses start-up parameters
 * that it does not know, hands out the session that was used last, and opens another one when none is free.
 */
export async function startPooler(url: string, { mode, resetsAlways }: PoolerOptions): Promise<Pooler> {
  const [idle, all, sockets] = [[] as Server[], new Set<Server>(), new Set<Socket>()];
  const release = async (server: Server): Promise<void> => {
    server.owner = undefined;
    server.stream.removeAllListeners('data');
    if (mode === 'session' || resetsAlways) await ask(server.stream, RESET);
    idle.push(server);
  };
  const take = async (owner: Socket): Promise<Server> => {
    const server = idle.pop() ?? (await openServer(url));
    all.add(server);
    server.owner = owner;
    const read = messagesIn();
    server.stream.on('data', (chunk: Buffer) => {
      for (const { kind, bytes } of read(chunk)) {
        owner.write(bytes);
        if (kind !== 'Z') continue;
        server.pending -= 1;
        const isOver = server.pending === 0 && bytes.at(-1) === 'I'.charCodeAt(0);
        if (isOver && mode === 'transaction') void release(server);
      }
    });
    return server;
  };
  const listener = createServer((socket) => {
    sockets.add(socket);
    let server: Server | undefined;
    const forward = async (message: Message): Promise<void> => {
      if (message.kind === 'X') return void socket.end();
      if (server?.owner !== socket) server = await take(socket);
      if (message.kind === 'Q' || message.kind === 'S') server.pending += 1;
      server.stream.write(message.bytes);
    };
    const read = messagesIn();
    let queue = Promise.resolve();
    const onMessages = (chunk: Buffer): void => {
      for (const message of read(chunk)) queue = queue.then(() => forward(message));
    };
    socket.on('data', welcoming(socket, onMessages));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (server?.owner !== socket) return;
      // A session that is in the middle of something goes with its client.
      if (server.pending === 0) void release(server);
      else server.stream.destroy();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    url: `postgresql://pooled:pooled@127.0.0.1:${port}/pooled`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      for (const { stream } of all) stream.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** `pg` greets the server; from then on the line is ours. */
async function openServer(url: string): Promise<Server> {
  const client = new Client({ connectionString: url, application_name: 'pooler' });
  await client.connect();
  client.on('error', () => undefined);
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('data');
  return { client, stream, owner: undefined, pending: 0 };
}

/** Answers the start-up message as PgBouncer does, and hands over what comes then. */
function welcoming(socket: Socket, then: (chunk: Buffer) => void): (chunk: Buffer) => void {
  let held: Buffer | undefined = Buffer.alloc(0);
  return (chunk) => {
    if (held === undefined) {
      then(chunk);
      return;
    }
    held = Buffer.concat([held, chunk]);
    while (held.length >= 8 && held.length >= held.readInt32BE(0)) {
      const [length, code] = [held.readInt32BE(0), held.readInt32BE(4)];
      const fields = held.toString('utf8', 8, length).split('\0');
      held = held.subarray(length);
      if (code === CANCEL_REQUEST) return void socket.destroy();
      if (code === SSL_REQUEST) {
        socket.write('N');
        continue;
      }
      const unknown = fields.find((name, index) => index % 2 === 0 && name !== '' && !KNOWN_PARAMETERS.has(name));
      if (unknown !== undefined) return void socket.end(refusal(`unsupported startup parameter: ${unknown}`));
      socket.write(Buffer.concat([message('R', '\0\0\0\0'), message('K', '\0\0\0\0\0\0\0\0'), message('Z', 'I')]));
      const rest = held;
      held = undefined;
      then(rest);
      return;
    }
  };
}

function refusal(words: string): Buffer {
  return message('E', `SFATAL\0C08P01\0M${words}\0\0`);
}

function message(kind: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(kind), length, Buffer.from(body)]);
}

/** Cuts a stream into messages, whole ones only. */
function messagesIn(): (chunk: Buffer) => Message[] {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    const found: Message[] = [];
    while (held.length >= 5 && held.length > held.readInt32BE(1)) {
      const length = held.readInt32BE(1) + 1;
      found.push({ kind: String.fromCharCode(held[0] ?? 0), bytes: held.subarray(0, length) });
      held = held.subarray(length);
    }
    return found;
  };
}

/** Runs a statement of the pooler's own. */
async function ask(stream: Socket, text: string): Promise<void> {
  const read = messagesIn();
  stream.write(message('Q', `${text}\0`));
  await new Promise<void>((resolve) => {
    const onData = (chunk: Buffer): void => {
      if (!read(chunk).some(({ kind }) => kind === 'Z')) return;
      stream.off('data', onData);
      resolve();
    };
    stream.on('data', onData);
    stream.once('close', resolve);
  });
}
