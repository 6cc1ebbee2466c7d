import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { handleTogether, writeInOnePiece } from './connections';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('handleTogether', () => {
  it('handles what arrives in one turn once each, in order, before the first promise of any of them goes on', async () => {
    const seen: string[] = [];
    const handle = handleTogether((name: string) => {
      seen.push(name);
      void Promise.resolve().then(() => seen.push(`${name} later`));
    });
    handle('a');
    handle('b');
    expect(seen).toEqual([]);
    await nextTurn();
    handle('c');
    expect(seen).toEqual(['a', 'b', 'a later', 'b later']);
    await nextTurn();
    expect(seen.slice(4)).toEqual(['c', 'c later']);
  });

  it('takes what a handler brings in up in the turn behind it', async () => {
    const seen: number[] = [];
    const handle = handleTogether((left: number) => {
      seen.push(left);
      if (left > 0) handle(left - 1);
    });
    handle(2);
    await nextTurn();
    await nextTurn();
    await nextTurn();
    expect(seen).toEqual([2, 1, 0]);
  });
});

const MANY_BYTES = 32 * 1024 * 1024;

let servers: Server[] = [];

afterEach(() => {
  for (const server of servers) server.close().closeAllConnections();
  servers = [];
});

async function serve(
  listener: RequestListener,
  connected: (server: Server) => void = () => undefined,
): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  connected(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** With nothing that differs between two servers. Without `writeHead`, so that Node knows how long the answer is. */
function answer(response: ServerResponse, status: number): ServerResponse {
  response.statusCode = status;
  return response.setHeader('Date', 'Sun, 01 Mar 2026 10:00:00 GMT');
}

const inOnePiece = (server: Server): void => void server.on('connection', writeInOnePiece);

/** All that a server answers to these requests, sent at once, the last of which closes the connection. */
async function answersTo(port: number, ...methods: string[]): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  const last = methods.length - 1;
  const heads = methods.map((method, index) => {
    const connection = index === last ? 'close' : 'keep-alive';
    return `${method} /${index} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`;
  });
  socket.write(heads.join(''));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('an answer in one piece', () => {
  it.each<[string, RequestListener, string[]]>([
    ['a text', (_request, response) => answer(response, 202).end('{"status":"accepted"}'), ['POST']],
    ['letters of several bytes', (_request, response) => answer(response, 200).end('{"name":"Zoë 🎉"}'), ['GET']],
    ['bytes', (_request, response) => answer(response, 200).end(Buffer.from([0, 255, 13, 10])), ['GET']],
    ['nothing', (_request, response) => answer(response, 204).end(), ['DELETE']],
    ['a head alone', (_request, response) => answer(response, 200).end('not for HEAD'), ['HEAD']],
    [
      'a stream of unknown length',
      (_request, response) => {
        answer(response, 200).write('one\n');
        response.write('two\n');
        setImmediate(() => response.end('three\n'));
      },
      ['GET'],
    ],
    [
      'more than the socket takes at once',
      (request, response) => answer(response, 200).end((request.url ?? '').repeat(MANY_BYTES / 8)),
      ['GET', 'GET'],
    ],
    [
      'requests sent before the first is answered, the first answered last',
      ({ url }, response) => {
        setTimeout(() => answer(response, 200).end(`answer ${url}`), url === '/0' ? 20 : 0);
      },
      ['GET', 'POST', 'GET'],
    ],
  ])('has the bytes that Node sends: %s', async (_name, listener, methods) => {
    const [ours, theirs] = [await serve(listener, inOnePiece), await serve(listener)];
    const answers = await answersTo(ours, ...methods);
    expect(answers.equals(await answersTo(theirs, ...methods))).toBe(true);
    expect(answers.toString('latin1', 0, 8)).toBe('HTTP/1.1');
  });

  it('is written once, and told to be out when it is', async () => {
    const writes: string[] = [];
    const finished: boolean[] = [];
    const port = await serve(
      (_request, response) => {
        response.once('finish', () => finished.push(response.writableFinished));
        answer(response, 200).end('{"a":1}');
      },
      (server) => {
        server.on('connection', (socket) => {
          const write = socket._write.bind(socket);
          socket._write = (chunk: string, ...rest) => {
            writes.push(chunk);
            write(chunk, ...rest);
          };
        });
        inOnePiece(server);
      },
    );
    await answersTo(port, 'GET', 'GET');
    expect(writes.map((text) => text.endsWith('\r\n\r\n{"a":1}'))).toEqual([true, true]);
    expect(finished).toEqual([true, true]);
  });

  it('whose taker leaves half way ends as it does with Node', async () => {
    const endingOf = async (connected?: typeof inOnePiece): Promise<string[]> => {
      const seen: string[] = [];
      const over = new Promise<void>((resolve) => {
        const listener: RequestListener = (_request, response) => {
          response.once('finish', () => seen.push('finish')).once('close', () => seen.push('close'));
          response.socket?.once('close', () => resolve(void seen.push('connection closed')));
          answer(response, 200).end('x'.repeat(MANY_BYTES));
        };
        void serve(listener, connected).then((port) => {
          const socket = connect(port, '127.0.0.1');
          socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
          socket.once('data', () => socket.destroy());
        });
      });
      await over;
      return seen.toSorted();
    };
    const ending = await endingOf(inOnePiece);
    expect(ending).toEqual(await endingOf());
    expect(ending).toContain('close');
  });
});
