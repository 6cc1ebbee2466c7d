import { once } from 'node:events';
import { createServer, type IncomingMessage, request as startRequest, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import express, { type NextFunction, type Request, type Response } from 'express';
import { BodyRefusal } from './body-refusal';
import { until } from '../../../../test/support/until';
import { ClientGone } from '../../errors/client-gone';
import { HeldBodies } from './held-bodies';
import { readJsonBody } from './json-body';
import { readWhatIsThere } from './receive-body';

const LIMIT = 2_000;
const MEBIBYTE = 1024 * 1024;
/** More than the system takes of an answer that nobody reads. */
const LARGE_ANSWER_BYTES = 12 * MEBIBYTE;
/** As many bytes as all large bodies may have together. */
const LARGEST_BYTES = 16 * MEBIBYTE;
type Headers = Record<string, string>;
interface Outcome {
  readonly status: number;
  readonly value?: unknown;
}

let server: Server;
let lastRefusal: BodyRefusal | undefined;
let outcomes: Promise<unknown>[] = [];
let batchesAnswered = 0;
let bodiesAnswered = 0;

/** One app that reads with us and with Express's own parser. */
beforeAll(async () => {
  const app = express();
  app.post('/ours', async (request, response) => {
    const reading = (async () => readJsonBody(request, { bodyBytesMax: LIMIT }))();
    outcomes.push(reading.catch((error: unknown) => error));
    response.json({ value: (await reading).value });
  });
  const held = new HeldBodies(4 * MEBIBYTE);
  app.post('/held', async (request, response) => {
    await readJsonBody(request, { bodyBytesMax: MEBIBYTE, held });
    response.end('x'.repeat(LARGE_ANSWER_BYTES));
    bodiesAnswered += 1;
  });
  app.post('/batches', async (request, response) => {
    await readJsonBody(request, { bodyBytesMax: LARGEST_BYTES }, 'items');
    response.end('x'.repeat(LARGE_ANSWER_BYTES));
    batchesAnswered += 1;
  });
  app.post('/theirs', express.json({ limit: LIMIT, strict: false }), (request, response) => {
    if (request.body === undefined) response.sendStatus(415);
    else response.json({ value: request.body });
  });
  app.use((error: Error & { status?: number }, _request: Request, response: Response, _next: NextFunction) => {
    if (error instanceof BodyRefusal) lastRefusal = error;
    const status = { malformed_json: 400, payload_too_large: 413, unsupported_media_type: 415 } as Record<
      string,
      number
    >;
    response.sendStatus(error instanceof BodyRefusal ? (status[error.code] ?? 500) : (error.status ?? 500));
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  lastRefusal = undefined;
  outcomes = [];
});

async function post(path: string, body: string | Buffer, headers: Headers = {}): Promise<Outcome> {
  const { port } = server.address() as AddressInfo;
  const request = startRequest({ port, path, method: 'POST', agent: false, headers });
  request.on('error', () => undefined);
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return response.statusCode === 200
    ? { status: 200, value: JSON.parse(text).value }
    : { status: response.statusCode ?? 0 };
}

const json = (headers: Headers = {}): Headers => ({ 'content-type': 'application/json', ...headers });
const chunked: Headers = { 'transfer-encoding': 'chunked' };
const gzip: Headers = { 'content-encoding': 'gzip' };
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const ofBytes = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;

describe('readJsonBody agrees with express.json', () => {
  it.each<[string, string | Buffer, Headers]>([
    ['an object', '{"a":[1,2,{"b":null}]}', json()],
    ['a list', '[]', json()],
    ['a text', '"text"', json()],
    ['a number', ' 12.5e3 ', json()],
    ['null', 'null', json()],
    ['the last of equal keys', '{"a":1,"a":2}', json()],
    ['a key named __proto__', '{"__proto__":{"admin":true}}', json()],
    ['non-ASCII text', '{"ä":"😀"}', json()],
    ['an escaped lone surrogate', '"\\ud800"', json()],
    ['white space around', '\r\n\t {} \n', json()],
    ['a byte order mark', Buffer.concat([BOM, Buffer.from('{"a":1}')]), json()],
    ['a chunked body', '{"a":1}', json(chunked)],
    ['a type in capitals', '{}', { 'content-type': 'Application/JSON' }],
    ['charset=utf-8', '{}', { 'content-type': 'application/json; charset=utf-8' }],
    ['charset in capitals and quotes', '{}', { 'content-type': 'application/json;CHARSET="UTF-8"' }],
    ['an empty charset', '{}', { 'content-type': 'application/json; charset=' }],
    ['another parameter', '{}', { 'content-type': 'application/json; profile="a; charset=x"' }],
    ['charset=latin1', '{}', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['charset=utf8', '{}', { 'content-type': 'application/json; charset=utf8' }],
    ['no type', '{}', {}],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a text type', '{}', { 'content-type': 'text/plain' }],
    ['another JSON type', '{}', { 'content-type': 'application/problem+json' }],
    ['two types in one', '{}', { 'content-type': 'application/json, text/plain' }],
    ['identity', '{}', json({ 'content-encoding': 'identity' })],
    ['gzip', gzipSync('{"a":1}'), json(gzip)],
    ['gzip in capitals', gzipSync('{"a":1}'), json({ 'content-encoding': 'GZIP' })],
    ['chunked gzip', gzipSync('{"a":1}'), json({ ...gzip, ...chunked })],
    ['gzip of two members', Buffer.concat([gzipSync('{"a"'), gzipSync(':1}')]), json(gzip)],
    ['gzip that is none', '{"a":1}', json(gzip)],
    ['gzip cut off', gzipSync(ofBytes(500)).subarray(0, 15), json(gzip)],
    ['gzip with a wrong checksum', corrupted(gzipSync('{"a":1}')), json(gzip)],
    ['two encodings', gzipSync('{}'), json({ 'content-encoding': 'gzip, gzip' })],
    ['an unknown encoding', '{}', json({ 'content-encoding': 'lzw' })],
    ['the largest body', ofBytes(LIMIT), json()],
    ['the largest chunked body', ofBytes(LIMIT), json(chunked)],
    ['the largest inflated body', gzipSync(ofBytes(LIMIT)), json(gzip)],
    ['one byte more', ofBytes(LIMIT + 1), json()],
    ['one byte more, chunked', ofBytes(LIMIT + 1), json(chunked)],
    ['one byte more after inflation', gzipSync(ofBytes(LIMIT + 1)), json(gzip)],
    ['a gzip bomb', gzipSync(Buffer.alloc(5_000_000, 32)), json(gzip)],
    ['no JSON', 'hello', json()],
    ['an open object', '{"a":1', json()],
    ['a trailing comma', '{"a":1,}', json()],
    ['text behind', '{} {}', json()],
    ['a comment', '{}//', json()],
    ['single quotes', "{'a':1}", json()],
    ['a line break in a text', '"a\nb"', json()],
    ['NaN', 'NaN', json()],
    ['white space only', '  ', json()],
  ])('on %s', async (_, body, headers) => {
    const theirs = await post('/theirs', body, headers);
    const ours = await post('/ours', body, headers);
    expect(ours).toEqual(theirs);
  });

  it('on nesting as deep as the contract lets it be', async () => {
    const deep = `${'['.repeat(64)}${']'.repeat(64)}`;
    expect((await post('/ours', deep, json())).status).toBe((await post('/theirs', deep, json())).status);
  });
});

describe('readJsonBody is stricter than express.json', () => {
  it.each<[string, string | Buffer, Headers, number]>([
    ['an empty body', '', json(), 400],
    ['an empty chunked body', '', json(chunked), 400],
    ['nesting over 64 levels', `${'['.repeat(65)}${']'.repeat(65)}`, json(), 400],
    ['a lonely byte order mark', BOM, json(), 400],
    ['invalid UTF-8, which it would replace', Buffer.from([0x22, 0xff, 0x22]), json(), 400],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), json(), 400],
    ['UTF-16', Buffer.from('{}', 'utf16le'), { 'content-type': 'application/json; charset=utf-16le' }, 415],
    ['a second charset', '{}', { 'content-type': 'application/json; charset=utf-8; charset=latin1' }, 415],
    ['deflate', deflateSync('{}'), json({ 'content-encoding': 'deflate' }), 415],
  ])('on %s', async (_, body, headers, status) => {
    expect((await post('/ours', body, headers)).status).toBe(status);
  });
});

describe('a refused body', () => {
  it('is kept whole when it is malformed, inflated where that worked', async () => {
    await post('/ours', gzipSync('{"a":'), json(gzip));
    expect(lastRefusal?.received.toString()).toBe('{"a":');
    await post('/ours', gzipSync(ofBytes(1_000)).subarray(0, 20), json(gzip));
    expect(lastRefusal?.message).toBe('The body is not valid gzip data, or it ends too early.');
  });

  it.each([
    ['{"a":1 x}', 'The body is not valid JSON: character 7 is not expected there.'],
    ['{"card":4111111111111111 x', 'The body is not valid JSON: character 25 is not expected there.'],
    ['{"a":', 'The body is not valid JSON: it ends too early.'],
    ['jane@example.com', 'The body is not valid JSON.'],
    ['x in JSON at position 4111111111111111', 'The body is not valid JSON.'],
    [' ', 'The body is not valid JSON: it ends too early.'],
  ])('says where it is wrong and never quotes it: %s', async (body, message) => {
    await post('/ours', body, json());
    expect(lastRefusal?.message).toBe(message);
  });

  it('names the encodings that are taken', async () => {
    await post('/ours', '{}', json({ 'content-encoding': 'br' }));
    expect(lastRefusal?.extras.headers).toEqual({ 'Accept-Encoding': 'gzip, identity' });
  });

  it('that is too large is kept to 64 KiB at most, whether it came plain or as a bomb', async () => {
    await post('/ours', ofBytes(300_000), json(chunked));
    expect(lastRefusal?.received.length).toBeGreaterThan(LIMIT);
    expect(lastRefusal?.received.length).toBeLessThanOrEqual(64 * 1024);
    await post('/ours', gzipSync(Buffer.alloc(50_000_000, 32)).subarray(0, LIMIT), json(gzip));
    expect(lastRefusal?.received.length).toBeLessThanOrEqual(64 * 1024);
    expect(lastRefusal?.code).toBe('payload_too_large');
  });
});

it('lets in the next large batch when one is answered, whether or not its client reads the answer', async () => {
  const { port } = server.address() as AddressInfo;
  const batchOf = (bytes: number): string => {
    const head = 'POST /batches HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ';
    return `${head}${bytes}\r\n\r\n${'{"items":[]}'.padEnd(bytes, ' ')}`;
  };
  const sockets = [LARGEST_BYTES, MEBIBYTE].map(() => connect(port, '127.0.0.1').pause());
  try {
    sockets[0]?.write(batchOf(LARGEST_BYTES));
    await until(() => batchesAnswered === 1);
    sockets[1]?.write(batchOf(MEBIBYTE));
    await until(() => batchesAnswered === 2, 10);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

it('counts what a workspace has in memory until it is answered, whether or not its client reads the answer', async () => {
  const { port } = server.address() as AddressInfo;
  const bytes = (3 * MEBIBYTE) / 4;
  const head = 'POST /held HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ';
  const sockets = [1, 2].map(() => connect(port, '127.0.0.1').pause());
  try {
    for (const [index, socket] of sockets.entries()) {
      socket.write(`${head}${bytes}\r\n\r\n${'{}'.padEnd(bytes, ' ')}`);
      await until(() => bodiesAnswered === index + 1, 10);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

it('tells a client that went away from a refusal', async () => {
  const { port } = server.address() as AddressInfo;
  const request = startRequest({ port, path: '/ours', method: 'POST', headers: json({ 'content-length': '100' }) });
  request.on('error', () => undefined);
  request.write('{"a":');
  while (outcomes.length === 0) await new Promise(setImmediate);
  request.destroy();
  expect(await outcomes[0]).toBeInstanceOf(ClientGone);
});

function corrupted(gzipped: Buffer): Buffer {
  const at = gzipped.length - 8;
  gzipped.writeUInt8(gzipped.readUInt8(at) ^ 1, at);
  return gzipped;
}

describe('what a request has brought so far', () => {
  /** As Node 26 and later read: one chunk at a time. */
  const requestOf = (chunks: readonly string[], length?: number): IncomingMessage => {
    const left = chunks.map((chunk) => Buffer.from(chunk));
    const bytes = left.reduce((sum, chunk) => sum + chunk.length, 0);
    return { readableLength: length ?? bytes, read: () => left.shift() ?? null } as unknown as IncomingMessage;
  };

  it('is read to its end, also where one read answers one chunk', () => {
    for (const chunks of [[], ['{}'], ['{"a":', '1}'], ['{}', ' ', '{"junk":1}']]) {
      expect(readWhatIsThere(requestOf(chunks)).toString()).toBe(chunks.join(''));
    }
  });

  it('is never taken for less than it is', () => {
    expect(() => readWhatIsThere(requestOf(['{}'], 12))).toThrow('was not read to its end');
  });
});
