import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Logger } from '@nestjs/common';
import { exchange, type NotesApp, SLOW_MS, startNotesApp } from '../support/notes-app';
import { until } from '../support/until';

const SLOW_REQUEST = 'GET /v1/slow HTTP/1.1\r\nHost: a\r\n\r\n';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let notes: NotesApp;

beforeAll(async () => {
  notes = await startNotesApp();
});

afterAll(async () => {
  await notes.app.close();
});

function call(path: string, options: RequestInit = {}): Promise<Response> {
  return fetch(`${notes.url}${path}`, options);
}

/** A problem document, after checking what every one of them has. */
async function problemOf(response: Response): Promise<Record<string, any>> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  const problem = (await response.json()) as Record<string, any>;
  expect(problem).toMatchObject({
    type: `/problems/${problem['error_code']}`,
    status: response.status,
    title: expect.any(String),
    detail: problem['message'],
    details: expect.any(Array),
    request_id: response.headers.get('x-request-id'),
  });
  return problem;
}

describe('routing', () => {
  it('answers a path that nobody serves with 404', async () => {
    for (const path of ['/v1', '/v1/notesX', '/v1/notes/', '/V1/notes', '/v1/notes:batchX', '/v2/notes']) {
      expect((await problemOf(await call(path)))['error_code']).toBe('not_found');
    }
  });

  it('answers another method with 405 and names the ones there are, HEAD beside GET', async () => {
    const wrong = await call('/v1/notes', { method: 'DELETE' });
    expect((await problemOf(wrong))['error_code']).toBe('method_not_allowed');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect((await call('/v1/notes:batch')).headers.get('allow')).toBe('POST');
    expect((await call('/docs', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'])('takes the verb behind an id for no part of it: %s', async (method) => {
    const wrong = await call('/v1/keys/abc:rotate', { method });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await call('/v1/keys/abc:turn', { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it('answers no preflight', async () => {
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    const response = await call('/v1/notes', { method: 'OPTIONS', headers: preflight });
    expect((await problemOf(response)).status).toBe(405);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  it('answers HEAD where GET is served, and problems to HEAD without a body', async () => {
    const head = await call('/v1/notes', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const missing = await call('/v1/none', { method: 'HEAD' });
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });

  it('reads %3A in a path as the colon it is, in a query as what it was', async () => {
    const batch = { method: 'POST', body: '{"items":[1]}', headers: { 'content-type': 'application/json' } };
    for (const path of ['/v1/notes:batch', '/v1/notes%3Abatch', '/v1/notes%3abatch']) {
      expect(await (await call(path, batch)).json()).toEqual({ items: [1] });
    }
    expect((await call('/v1/notes%253Abatch', batch)).status).toBe(404);
    expect(await (await call('/v1/notes?source=a%3Ab%253Ac')).json()).toEqual({ query: { source: 'a:b%3Ac' } });
  });

  it.each(['abc', 'a.b.c', '0198c0de-0000-7000-8000-000000000000', 'a.b:c'])(
    'finds the id %s before a method',
    async (id) => {
      expect(await (await call(`/v1/keys/${id}:rotate`, { method: 'POST' })).json()).toEqual({ rotated: id });
    },
  );

  it('answers broken percent-encoding with 404', async () => {
    for (const path of ['/v1/keys/%FF', '/v1/keys/%', '/docs/%E0%A4%A']) {
      expect((await problemOf(await call(path)))['error_code']).toBe('not_found');
    }
  });
});

describe('X-Request-Id', () => {
  it('is the client’s own when it is sane, on successes and refusals', async () => {
    for (const path of ['/v1/notes', '/v1/none']) {
      const response = await call(path, { headers: { 'x-request-id': 'order:47.11_a-b' } });
      expect(response.headers.get('x-request-id')).toBe('order:47.11_a-b');
    }
  });

  it.each(['', ' ', '-a', 'a b', 'a,b', 'a'.repeat(129), '<script>', 'ä'])(
    'is a fresh one instead of %j',
    async (sent) => {
      const answer = await exchange(
        notes.port,
        `GET /v1/notes HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: ${sent}\r\n\r\n`,
      );
      expect(/^X-Request-Id: (.*)\r$/m.exec(answer)?.[1]).toMatch(UUID);
    },
  );

  it('differs from request to request', async () => {
    const ids = await Promise.all([1, 2].map(async () => (await call('/v1/notes')).headers.get('x-request-id')));
    expect(ids[0]).not.toBe(ids[1]);
  });
});

describe('errors', () => {
  it('tell nothing of a bug, to the client or to the log, but where it is', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const problem = await problemOf(await call('/v1/broken', { headers: { 'x-request-id': 'r1' } }));
    expect(problem['error_code']).toBe('internal');
    const lines = logged.mock.calls.flat().join('\n');
    logged.mockRestore();
    expect(JSON.stringify(problem)).not.toMatch(/jane|TypeError/);
    expect(lines).toContain('Request r1 failed: TypeError');
    expect(lines).toContain('notes-app.ts');
    expect(lines).not.toContain('jane');
  });

  it('of the framework keep their status and lose their words', async () => {
    const forbidden = await problemOf(await call('/v1/forbidden'));
    expect(forbidden).toMatchObject({ status: 403, error_code: 'insufficient_scope' });
    expect(JSON.stringify(forbidden)).not.toContain('jane');
    expect(await problemOf(await call('/v1/uuids/7'))).toMatchObject({ status: 422, error_code: 'validation_failed' });
  });

  it('of an absent database are an invitation to send again', async () => {
    const response = await call('/v1/away');
    expect((await problemOf(response))['error_code']).toBe('unavailable');
    expect(response.headers.get('retry-after')).toBe('1');
  });

  it('in a name name the parameter', async () => {
    expect((await call('/v1/campaigns/a.b-c_1')).status).toBe(200);
    for (const name of ['-a', 'a%20b', 'a'.repeat(129), 'ä']) {
      const problem = await problemOf(await call(`/v1/campaigns/${name}`));
      expect(problem['details']).toEqual([expect.objectContaining({ path: 'campaign_id', code: 'format' })]);
    }
  });
});

describe('a query', () => {
  it('is converted as its class says and not otherwise', async () => {
    expect(await (await call('/v1/notes?limit=5&source=7')).json()).toEqual({ query: { limit: 5, source: '7' } });
  });

  it('is refused with all its faults', async () => {
    const problem = await problemOf(await call('/v1/notes?limit=many&order=left&sorce=shop&source=a&source=b'));
    expect(problem['error_code']).toBe('validation_failed');
    expect(problem['details'].map(({ path, code }: Record<string, string>) => `${path}: ${code}`).sort()).toEqual([
      'limit: type',
      'order: enum',
      'sorce: unknown_field',
      'source: type',
    ]);
    expect(JSON.stringify(problem)).not.toMatch(/many|left|shop/);
  });

  it('has each parameter once, whatever that is', async () => {
    const problem = await problemOf(await call('/v1/notes?limit=5&limit=5&order=up&order=up&source=a&source=a'));
    expect(problem['details'].map(({ message }: Record<string, string>) => message).sort()).toEqual([
      'limit must be given once, as text.',
      'order must be given once, as text.',
      'source must be given once, as text.',
    ]);
  });

  it('cannot reach what objects inherit', async () => {
    const problem = await problemOf(await call('/v1/notes?__proto__=1&constructor=2&toString=3'));
    expect(problem['details'].map(({ path, code }: Record<string, string>) => `${path}: ${code}`)).toEqual([
      '__proto__: unknown_field',
      'constructor: unknown_field',
      'toString: unknown_field',
    ]);
  });
});

describe('bytes that are no request', () => {
  it.each([
    ['nonsense', 'HELLO\r\n\r\n', 'HTTP/1.1 400 '],
    ['headers of more than 16 KiB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 'HTTP/1.1 431 '],
    ['a request without Host', 'GET /v1/notes HTTP/1.1\r\n\r\n', 'HTTP/1.1 400 '],
    ['a host with a path', 'GET /v1/notes HTTP/1.1\r\nHost: a b/c\r\n\r\n', 'HTTP/1.1 400 '],
    ['two hosts', 'GET /v1/notes HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n', 'HTTP/1.1 400 '],
    [
      'a transfer coding that nobody decodes',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      'HTTP/1.1 501 ',
    ],
    ['a request for no address', 'GET http://[/v1/notes HTTP/1.1\r\nHost: a\r\n\r\n', 'HTTP/1.1 400 '],
    ['a request for an address without host', 'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n', 'HTTP/1.1 400 '],
    ['a request for an address of another scheme', 'GET ftp://a HTTP/1.1\r\nHost: a\r\n\r\n', 'HTTP/1.1 400 '],
    ['a request for an address without path', 'GET foo://a HTTP/1.1\r\nHost: a\r\n\r\n', 'HTTP/1.1 400 '],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 'HTTP/1.1 400 '],
  ])('get a problem document and a closed connection: %s', async (_, text, status) => {
    const answer = await exchange(notes.port, text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head.startsWith(status)).toBe(true);
    expect(head).toContain('Content-Type: application/problem+json');
    expect(head).toContain('Connection: close');
    expect(head).toContain(`X-Request-Id: ${JSON.parse(body).request_id}`);
  });

  it('behind a request do not take the place of its answer, which is the last one of the connection', async () => {
    const answer = await exchange(notes.port, `${SLOW_REQUEST}${SLOW_REQUEST}HELLO\r\n\r\n`);
    expect(answer.match(/^HTTP\/1\.1 .*/gm)).toEqual(['HTTP/1.1 200 OK']);
    expect(answer).toContain('Connection: close');
  });

  it('in the body of a request are what it is answered for', async () => {
    const head = 'POST /v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nContent-Type: application/json\r\n';
    const answer = await exchange(notes.port, `${head}Transfer-Encoding: chunked\r\n\r\nHELLO\r\n\r\n`);
    expect(answer.match(/^HTTP\/1\.1 .*/gm)).toEqual(['HTTP/1.1 400 Bad Request']);
  });
});

describe('an answer', () => {
  it('ends with a newline, whether it is data or a problem', async () => {
    for (const path of ['/v1/notes', '/v1/nothing']) expect(await (await call(path)).text()).toMatch(/^[{[].*[}\]]\n$/);
  });
});

describe('the documentation', () => {
  it('is where the root leads to, by an address that holds behind a proxy with a path of its own', async () => {
    const { status, headers } = await call('/', { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, 'docs']);
  });

  it('is a page that may load its own scripts, while data may load nothing', async () => {
    const page = await call('/docs');
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect((await call('/docs/swagger-ui-init.js')).status).toBe(200);
    expect((await call('/docs/swagger-ui.css')).status).toBe(200);
    const data = await call('/v1/notes');
    expect(data.headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
    expect(data.headers.get('x-content-type-options')).toBe('nosniff');
    expect(data.headers.get('x-powered-by')).toBeNull();
    expect(data.headers.get('etag')).toBeNull();
  });

  it('has the files that its page loads, and no others of Swagger UI', async () => {
    const loaded = new Set<string>();
    for (const path of ['/docs', '/docs/']) {
      const answer = await call(path);
      const page = await answer.text();
      for (const [, file = ''] of page.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const { pathname } = new URL(file, answer.url);
        expect([pathname, (await call(pathname)).status]).toEqual([pathname, 200]);
        loaded.add(basename(pathname));
      }
    }
    expect(loaded.size).toBe(6);
    const others = readdirSync(join('node_modules', 'swagger-ui-dist')).filter((file) => !loaded.has(file));
    expect(others).toContain('package.json');
    const hidden = [
      'index.html',
      '%70ackage.json',
      '/package.json',
      'swagger-ui-bundle.js.map',
      'docs/swagger-ui-init.js',
    ];
    for (const file of [...others, ...hidden]) {
      const answer = await call(`/docs/${file}`);
      expect([file, answer.status, (await problemOf(answer))['error_code']]).toEqual([file, 404, 'not_found']);
    }
  });

  it('shows literal colons, the errors of every operation, and the rules and limits that are enforced', async () => {
    const document = (await (await call('/docs-json')).json()) as Record<string, any>;
    expect(document).toEqual(JSON.parse(JSON.stringify(notes.document)));
    const { post } = document['paths']['/v1/notes:batch'];
    expect(post.responses.default).toEqual({ $ref: '#/components/responses/OtherProblem' });
    const { OtherProblem } = document['components'].responses;
    expect(OtherProblem.content['application/problem+json'].schema.$ref).toBe('#/components/schemas/ProblemDetails');
    expect(document['components'].schemas.NoteBatchDto.properties.items).toMatchObject({ maxItems: 5, minItems: 1 });
    expect(document['components'].schemas.NoteDto.properties).toMatchObject({
      source: { type: 'string', pattern: '^[a-z]+$' },
      count: { type: 'integer', minimum: 1 },
      tags: { type: 'array', maxItems: 3, items: { type: 'string', maxLength: 4 } },
    });
  });
});

it('closes when the last answer is out, whatever connections are kept alive', async () => {
  const other = await startNotesApp();
  let received = 0;
  other.app.getHttpServer().on('request', () => (received += 1));
  const answers = ['/v1/notes', '/v1/slow'].map((path) =>
    exchange(other.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`),
  );
  await until(() => received === answers.length);
  const started = performance.now();
  await other.app.close();
  expect(performance.now() - started).toBeLessThan(SLOW_MS + 1_000);
  for (const answer of await Promise.all(answers)) expect(answer).toContain('200 OK');
});
