import { request as startRequest } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Logger } from '@nestjs/common';
import { BODY_BYTES_MAX, exchange, type NotesApp, startNotesApp } from '../support/notes-app';

const NOTE = { source: 'shop', owner: { name: 'jo' } };
const JSON_TYPE = { 'content-type': 'application/json' };
const HEAD_WITH_KEY =
  'POST /v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key\r\nContent-Type: application/json\r\n';
const KEY = { authorization: 'Bearer key' };

let notes: NotesApp;

beforeAll(async () => {
  notes = await startNotesApp();
});

afterAll(async () => {
  await notes.app.close();
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, any>;
  readonly headers: Headers;
}

async function post(body: unknown, options: RequestInit & { path?: string; duplex?: 'half' } = {}): Promise<Answer> {
  const { path = '/v1/notes', headers, ...others } = options;
  const sent = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
  const response = await fetch(`${notes.url}${path}`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...KEY, ...(headers as Record<string, string>) },
    body: (sent ? body : JSON.stringify(body)) as string,
    ...others,
  });
  return { status: response.status, body: (await response.json()) as Record<string, any>, headers: response.headers };
}

function faultsOf({ body }: Answer): string[] {
  return body['details'].map(({ path, code }: Record<string, string>) => `${path}: ${code}`);
}

describe('a body', () => {
  it('reaches its handler as the client sent it, without the nulls that mean absent', async () => {
    const sent = { ...NOTE, count: null, attributes: { a: null } };
    const { status, body } = await post(sent);
    expect([status, body]).toEqual([
      201,
      { note: { ...NOTE, attributes: { a: null } }, bytes: JSON.stringify(sent).length },
    ]);
  });

  it('is taken with gzip, too', async () => {
    const answer = await post(gzipSync(JSON.stringify(NOTE)), { headers: { 'content-encoding': 'gzip' } });
    expect(answer.body['note']).toEqual(NOTE);
  });

  it('is refused with every fault it has, by the rules of the class', async () => {
    const answer = await post({
      source: 'Shop',
      sorce: 1,
      owner: { name: 'far too long', nme: 1 },
      count: 1.5,
      tags: ['a', 'bbbbb', 1],
    });
    expect([answer.status, answer.body['error_code']]).toEqual([422, 'validation_failed']);
    expect(faultsOf(answer)).toEqual([
      'source: format',
      'owner.name: too_long',
      'owner.nme: unknown_field',
      'count: type',
      'tags[1]: too_long',
      'tags[2]: type',
      'sorce: unknown_field',
    ]);
    expect(answer.body['message']).toBe('source does not match ^[a-z]+$. (and 6 more faults)');
  });

  it.each(['__proto__', 'constructor', 'toString'])('may not smuggle a field named %s', async (name) => {
    const answer = await post(`{"source":"shop","owner":{"name":"jo"},"${name}":{"admin":true}}`);
    expect(faultsOf(answer)).toEqual([`${name}: unknown_field`]);
  });

  it('may nest 64 deep, counted from its beginning, and is refused before it is parsed where it nests deeper', async () => {
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const deep = nested(62);
    const answer = await post(`{"source":"Shop","owner":{"name":"jo"},"attributes":{"a":${deep}}}`);
    expect(faultsOf(answer)).toEqual(['source: format']);
    expect((await post(deep)).body['details']).toEqual([{ path: '', code: 'type', message: expect.any(String) }]);
    for (const text of [nested(65), `{"attributes":${nested(64)}}`, nested(20_000), '['.repeat(65)]) {
      const refused = await post(text);
      expect([refused.status, refused.body['error_code'], faultsOf(refused)]).toEqual([
        ...[400, 'malformed_json', [': too_deep']],
      ]);
      expect(refused.body['message']).toContain('more than 64 levels');
    }
    expect((await post(`{"source":"shop","owner":{"name":"jo"},"attributes":{"a":"${'['.repeat(65)}"}}`)).status).toBe(
      201,
    );
  });

  it('may be absent where a route says so, and only there', async () => {
    const none = { method: 'POST', headers: KEY };
    expect(await (await fetch(`${notes.url}/v1/notes/1:dismiss`, none)).json()).toEqual({ body: {} });
    expect((await post({ note: 'x' }, { path: '/v1/notes/1:dismiss' })).body).toEqual({ body: { note: 'x' } });
    expect((await fetch(`${notes.url}/v1/notes`, none)).status).toBe(415);
    expect((await post('')).body['error_code']).toBe('malformed_json');
  });

  it('of a batch is checked as an envelope, its items are left to the handler', async () => {
    const path = '/v1/notes:batch';
    expect((await post({ items: [1, {}, null] }, { path })).body).toEqual({ items: [1, {}, null] });
    expect(faultsOf(await post({ items: [] }, { path }))).toEqual(['items: too_few_items']);
    expect(faultsOf(await post({}, { path }))).toEqual(['items: required']);
    const tooMany = await post({ items: [1, 2, 3, 4, 5, 6] }, { path });
    expect([tooMany.status, tooMany.body['error_code']]).toEqual([422, 'batch_too_large']);
  });
});

describe('a body that is none', () => {
  it.each([
    [415, 'unsupported_media_type', 'text/plain', '{}'],
    [415, 'unsupported_media_type', 'application/json; charset=latin1', '{}'],
    [400, 'malformed_json', 'application/json', '{"source":"jane@example.com",}'],
  ])('gets %i %s', async (status, code, type, text) => {
    const answer = await post(text, { headers: { 'content-type': type } });
    expect([answer.status, answer.body['error_code']]).toEqual([status, code]);
    expect(JSON.stringify(answer.body)).not.toContain('jane');
  });

  it('gets 413 when it is too large: declared, chunked or after inflation', async () => {
    const large = 'x'.repeat(BODY_BYTES_MAX + 1);
    const bomb = gzipSync(Buffer.alloc(100 * BODY_BYTES_MAX, 32));
    const stream = Readable.toWeb(Readable.from([Buffer.from(large)])) as ReadableStream;
    const answers = [
      await post(large),
      await post(stream, { duplex: 'half' }),
      await post(bomb, { headers: { 'content-encoding': 'gzip' } }),
    ];
    expect(answers.map(({ status, body }) => [status, body['error_code']])).toEqual(
      Array.from({ length: 3 }, () => [413, 'payload_too_large']),
    );
  });

  it('gets its answer although the client sends all of 12 MiB before it looks', async () => {
    const large = 'x'.repeat(12 * 1024 * 1024);
    const declared = `Content-Length: ${large.length}\r\n\r\n${large}`;
    const chunked = `Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    for (const body of [declared, chunked]) {
      const answer = await exchange(notes.port, `${HEAD_WITH_KEY}${body}`);
      expect(answer).toMatch(/^HTTP\/1.1 413 [^]*Connection: close[^]*payload_too_large/);
    }
  });

  it('keeps its connection when what is left of it is small', async () => {
    const head = `${HEAD_WITH_KEY}Content-Length: 65536\r\n\r\n`;
    const next = 'GET /v1/none HTTP/1.1\r\nHost: a\r\n\r\n';
    const answer = await exchange(notes.port, [head, 'x'.repeat(40_000), 'x'.repeat(25_536), next], 'not_found');
    expect(answer).toContain('payload_too_large');
    expect(answer).toContain('not_found');
  });

  it('gets no answer and no log line when the client goes away', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const headers = { ...JSON_TYPE, ...KEY, 'content-length': '100' };
    const request = startRequest({ port: notes.port, path: '/v1/notes', method: 'POST', headers });
    request.on('error', () => undefined);
    request.write('{"a":');
    await new Promise((resolve) => setTimeout(resolve, 50));
    request.destroy();
    await post(NOTE);
    expect(logged).not.toHaveBeenCalled();
    logged.mockRestore();
  });
});

describe('a client without a credential', () => {
  const HEAD = 'POST /v1/notes HTTP/1.1\r\nHost: a\r\nContent-Type: text/nonsense\r\n';

  it('is refused before its body has arrived, and learns nothing about bodies', async () => {
    const started = performance.now();
    const answer = await exchange(notes.port, `${HEAD}Content-Length: 1000000\r\n\r\n`, 'unauthenticated');
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(answer).toContain('401 Unauthorized');
    expect(answer).toContain('WWW-Authenticate: Bearer');
    expect(answer).toContain('Connection: close');
  });

  it('is not asked for the body that it holds back', async () => {
    const answer = await exchange(notes.port, `${HEAD}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`);
    expect(answer.startsWith('HTTP/1.1 401 ')).toBe(true);
  });

  it('keeps its connection when its body was small', async () => {
    const twice = `${HEAD}Content-Length: 4\r\n\r\nbody`.repeat(2);
    const answer = await exchange(notes.port, `${twice}GET /v1/none HTTP/1.1\r\nHost: a\r\n\r\n`, 'not_found');
    expect(answer.match(/401 Unauthorized/g)).toHaveLength(2);
  });
});

it('asks for a body that is held back once the credential is known', async () => {
  const body = JSON.stringify(NOTE);
  const text = `${HEAD_WITH_KEY}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
  expect(await exchange(notes.port, text, '100 Continue')).toMatch(/^HTTP\/1.1 100 Continue/);
  const whole = await exchange(notes.port, `${text}${body}`, '"bytes"');
  expect(whole).toContain('201 Created');
});

it('ignores an expectation that nobody knows', async () => {
  const text = 'GET /v1/notes HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n';
  expect(await exchange(notes.port, text)).toContain('200 OK');
});
