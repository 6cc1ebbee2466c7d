import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { fetchJwks, type FetchOptions } from '../../src/jwt-issuers/jwks/fetch-jwks';
import { answerJson, startHttpStub, type HttpStub } from '../support/http-stub';
import { selfSigned } from '../support/self-signed';

const KEYS = [{ kty: 'RSA', n: 'n', e: 'AQAB' }, { kty: 'unheard of' }];
const BODY_BYTES_MAX = 65_536;
const LOOPBACK = { address: '127.0.0.1', family: 4 };

const stubs: HttpStub[] = [];

async function aStub(...of: Parameters<typeof startHttpStub>): Promise<HttpStub> {
  const stub = await startHttpStub(...of);
  stubs.push(stub);
  return stub;
}

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.stop()));
});

/** A body of exactly so many bytes that is a key set. */
function bodyOf(bytes: number): string {
  return JSON.stringify({ keys: KEYS }).padEnd(bytes, ' ');
}

describe('without JWKS_ALLOW_PRIVATE, a fetch', () => {
  const identity = selfSigned('keys.example.com');
  const trusting = { allowPrivate: false, ca: identity.cert, resolve: () => Promise.resolve([LOOPBACK]) };
  /** As if the first server stood in the Internet. */
  const asPublic: FetchOptions = { ...trusting, isPublic: (address) => address === LOOPBACK.address };

  it.each([
    'https://127.0.0.1:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://2130706433:PORT/',
    'https://0x7f.1:PORT/',
    'https://localhost:PORT/',
    'http://127.0.0.1:PORT/',
    'https://keys.example.com:PORT/',
  ])('never connects to %s', async (uri) => {
    const stub = await aStub(answerJson({ keys: KEYS }), identity);
    await expect(fetchJwks(uri.replace('PORT', String(stub.port)), trusting)).rejects.toThrow(
      /public Internet|https URL/,
    );
    expect(stub.connections()).toBe(0);
  });

  it('never connects to a host that has one private address among public ones', async () => {
    const stub = await aStub(answerJson({ keys: KEYS }), identity);
    const resolve = () => Promise.resolve([LOOPBACK, { address: 'fd00::1', family: 6 }]);
    const fetched = fetchJwks(`https://keys.example.com:${stub.port}/`, { ...asPublic, resolve });
    await expect(fetched).rejects.toThrow('not of the public Internet');
    expect(stub.connections()).toBe(0);
  });

  it('asks for the addresses of a host once and connects to what it has checked', async () => {
    const stub = await aStub(answerJson({ keys: KEYS }), identity);
    const hosts: string[] = [];
    const resolve = (host: string) => {
      hosts.push(host);
      return Promise.resolve([hosts.length === 1 ? LOOPBACK : { address: '10.0.0.1', family: 4 }]);
    };
    expect(await fetchJwks(`https://keys.example.com:${stub.port}/`, { ...asPublic, resolve })).toEqual(KEYS);
    expect(hosts).toEqual(['keys.example.com']);
  });

  it.each([
    'https://127.0.0.1:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    '//2130706433:PORT/',
    'http://keys.example.com:PORT/',
    'https://localhost:PORT/',
    'https://inside.example.com:PORT/',
    'https://user:secret@keys.example.com:PORT/',
    'file:///etc/passwd',
    'data:application/json,{"keys":[]}',
  ])('is not led to %s by a redirect', async (target) => {
    const inside = await aStub(answerJson({ keys: KEYS }), identity);
    const location = target.replace('PORT', String(inside.port));
    const outside = await aStub((_request, response) => void response.writeHead(302, { location }).end(), identity);
    const resolve = (host: string) =>
      Promise.resolve([host.startsWith('inside') ? { address: '::1', family: 6 } : LOOPBACK]);
    const fetched = fetchJwks(`https://keys.example.com:${outside.port}/`, { ...asPublic, resolve });
    await expect(fetched).rejects.toThrow(/public Internet|https URL|credentials/);
    expect([outside.connections(), inside.connections()]).toEqual([1, 0]);
  });

  it('follows a redirect between public hosts', async () => {
    const inside = await aStub(answerJson({ keys: KEYS }), identity);
    const location = `https://keys.example.com:${inside.port}/b?c=d`;
    const outside = await aStub((_request, response) => void response.writeHead(308, { location }).end(), identity);
    expect(await fetchJwks(`https://keys.example.com:${outside.port}/a`, asPublic)).toEqual(KEYS);
    expect(inside.requests[0]).toMatchObject({ method: 'GET', url: '/b?c=d' });
  });

  it.each([
    ['a certificate of nobody it trusts', { ca: selfSigned('keys.example.com').cert }, 'keys.example.com'],
    ['the certificate of another host', {}, 'other.example.com'],
  ])('does not believe %s', async (_what, options, host) => {
    const stub = await aStub(answerJson({ keys: KEYS }), identity);
    const fetched = fetchJwks(`https://${host}:${stub.port}/`, { ...asPublic, ...options });
    await expect(fetched).rejects.toThrow(
      /no whole answer \((DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID|UNABLE_TO_VERIFY_LEAF_SIGNATURE)\)/,
    );
    expect(stub.requests).toHaveLength(0);
  });
});

describe('a fetch', () => {
  const allowed = { allowPrivate: true, timeMsMax: 5_000 };

  async function fetchFrom(answer: RequestListener, options: FetchOptions = allowed): Promise<readonly unknown[]> {
    const stub = await aStub(answer);
    return fetchJwks(`http://localhost:${stub.port}/keys`, options);
  }

  it('gives the entries of a key set as they are, by one plain request on a connection of its own', async () => {
    const stub = await aStub(answerJson({ keys: KEYS }));
    for (let count = 0; count < 2; count++) {
      expect(await fetchJwks(`http://127.0.0.1:${stub.port}/keys?a=b`, allowed)).toEqual(KEYS);
    }
    expect(stub.connections()).toBe(2);
    const { method, url, headers } = stub.requests[0]!;
    expect([method, url]).toEqual(['GET', '/keys?a=b']);
    expect(headers).toEqual({
      accept: 'application/jwk-set+json, application/json',
      'accept-encoding': 'identity',
      'user-agent': 'campaign-data-service',
      host: `127.0.0.1:${stub.port}`,
      connection: 'close',
    });
  });

  it('takes 65,536 bytes and no more', async () => {
    const body = (bytes: number) => fetchFrom((_request, response) => void response.end(bodyOf(bytes)));
    expect(await body(BODY_BYTES_MAX)).toEqual(KEYS);
    await expect(body(BODY_BYTES_MAX + 1)).rejects.toThrow('more than 65536 bytes');
  });

  it('hangs up on a body without end', async () => {
    let hungUp: Promise<unknown> | undefined;
    const fetched = fetchFrom((_request, response) => {
      hungUp = once(response, 'close');
      const more = () => {
        if (!response.destroyed && response.write(' '.repeat(16_384))) setImmediate(more);
      };
      response.on('drain', more);
      more();
    });
    await expect(fetched).rejects.toThrow('more than 65536 bytes');
    await hungUp;
  });

  it.each<[string, RequestListener]>([
    [
      'a body that trickles',
      (_request, response) => {
        const timer = setInterval(() => response.write(' '), 10);
        response.on('close', () => clearInterval(timer));
      },
    ],
    ['a server that says nothing', () => undefined],
    [
      'redirects that each take their time',
      (_request, response) => void setTimeout(() => response.writeHead(302, { location: '/' }).end(), 60),
    ],
  ])('gives up on %s when its time is over, and hangs up', async (_what, answer) => {
    const closed: Promise<unknown>[] = [];
    const listener: RequestListener = (request, response) => {
      closed.push(once(response, 'close'));
      answer(request, response);
    };
    const fetched = fetchFrom(listener, { allowPrivate: true, timeMsMax: 150 });
    await expect(fetched).rejects.toThrow('It took too long.');
    await Promise.all(closed);
  });

  it.each([500, 302])('hangs up after status %d without waiting for the body', async (status) => {
    let closed: Promise<unknown> | undefined;
    const fetched = fetchFrom(
      ({ url }, response) => {
        if (url === '/keys') closed = once(response, 'close');
        response.writeHead(url === '/keys' ? status : 404, { location: '/other' });
        if (url === '/keys') response.write('…');
        else response.end();
      },
      { allowPrivate: true, timeMsMax: 60_000 },
    );
    await expect(fetched).rejects.toThrow('has status');
    await closed;
  });

  it('gives up on a resolver that says nothing when its time is over', async () => {
    const resolve = () => new Promise<never>(() => undefined);
    const fetched = fetchJwks('https://keys.example.com', { allowPrivate: true, timeMsMax: 50, resolve });
    await expect(fetched).rejects.toThrow('It took too long.');
  });

  it('follows three redirects and no more', async () => {
    const redirecting = (redirects: number): RequestListener => {
      return ({ url }, response) => {
        const count = Number(url?.slice('/keys'.length));
        if (count === redirects) response.end(bodyOf(0));
        else response.writeHead(307, { location: `/keys${count + 1}` }).end();
      };
    };
    expect(await fetchFrom(redirecting(3))).toEqual(KEYS);
    await expect(fetchFrom(redirecting(4))).rejects.toThrow('more than 3 redirects');
  });

  it.each<[string, RequestListener, string]>([
    ['a redirect to nowhere', (_q, answer) => void answer.writeHead(302).end(), 'names no URL'],
    [
      'a redirect to no URL',
      (_q, answer) => void answer.writeHead(302, { location: 'http://[' }).end(),
      'names no URL',
    ],
    ['status 404', (_q, answer) => void answer.writeHead(404).end(bodyOf(0)), 'status 404'],
    ['status 206', (_q, answer) => void answer.writeHead(206).end(bodyOf(0)), 'status 206'],
    ['status 304', (_q, answer) => void answer.writeHead(304).end(), 'status 304'],
    ['status 503', (_q, answer) => void answer.writeHead(503).end(), 'status 503'],
    ['a web page', (_q, answer) => void answer.end('<!doctype html>'), 'not JSON'],
    ['half of a key set', (_q, answer) => void answer.end(bodyOf(0).slice(0, 20)), 'not JSON'],
    ['nothing', (_q, answer) => void answer.end(), 'not JSON'],
    [
      'bytes that are not UTF-8',
      (_q, answer) => void answer.end(Buffer.from('{"keys":["\xff"]}', 'latin1')),
      'not JSON',
    ],
    ['a list', (_q, answer) => void answer.end('[]'), 'not a JWK Set'],
    ['keys that are no list', (_q, answer) => void answer.end('{"keys":{}}'), 'not a JWK Set'],
    [
      'a compressed body',
      (_q, answer) => void answer.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bodyOf(0))),
      'compressed',
    ],
    [
      'less than was announced',
      (_q, answer) => {
        answer.writeHead(200, { 'content-length': '100' }).write('{');
        setImmediate(() => answer.destroy());
      },
      'no whole answer (ECONNRESET)',
    ],
    ['something that is not HTTP', ({ socket }) => void socket.end('SSH-2.0-OpenSSH_9.7\r\n'), 'no whole answer (HPE_'],
    ['a line that is cut', ({ socket }) => void socket.destroy(), 'no whole answer (ECONNRESET)'],
  ])('fails at %s', async (_what, answer, words) => {
    await expect(fetchFrom(answer)).rejects.toThrow(words);
  });

  it('does not end the process at a body that is no HTTP any more', async () => {
    const fetched = fetchFrom(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n');
      setTimeout(() => socket.end('no chunk\r\n'), 20);
    });
    await expect(fetched).rejects.toThrow('no whole answer (ECONNRESET)');
  });

  it('names neither the host nor the path in what it says, wherever it fails', async () => {
    const stub = await aStub(answerJson({ keys: KEYS }));
    await stub.stop();
    stubs.pop();
    for (const host of ['127.0.0.1', 'localhost', 'keys.invalid']) {
      const failure: Error = await fetchJwks(`http://${host}:${stub.port}/secret?token=secret`, allowed).then(
        () => Promise.reject(new Error('It did not fail.')),
        (error: unknown) => error as Error,
      );
      expect(failure.message).toMatch(/^There was no whole answer \((ECONNREFUSED|ENOTFOUND|EAI_AGAIN)\)\.$/);
      expect(failure.cause).toBeUndefined();
    }
  });
});
