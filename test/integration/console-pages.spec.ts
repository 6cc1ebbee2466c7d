import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express, { type NextFunction, type Request, type Response } from 'express';
import { ConsolePages } from '../../src/console/console-pages';
import { DomainError } from '../../src/platform/errors/domain-error';
import { ERROR_CODES } from '../../src/platform/errors/error-codes';

/** The pages of a build, served from a folder as the build leaves it. */

const ROOT = join(__dirname, '..', '..');
const INDEX = '<!doctype html><html><head><meta charset="utf-8" /><base href="./" /></head><body></body></html>';
const SCRIPT = `export const text = '${'a'.repeat(5_000)}';\n`;
const SMALL = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
const PICTURE = randomBytes(2_000);
const SECRET = 'outside of the folder';

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  const parent = mkdtempSync(join(tmpdir(), 'cds-console-'));
  folder = join(parent, 'console');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(parent, 'secret.txt'), SECRET);
  writeFileSync(join(folder, 'index.html'), INDEX);
  writeFileSync(join(folder, 'icon.svg'), SMALL);
  writeFileSync(join(folder, '.build-stamp'), SECRET);
  writeFileSync(join(folder, 'assets', 'index-1a2b3c.js'), SCRIPT);
  writeFileSync(join(folder, 'assets', 'index-1a2b3c.css'), 'body { color: red; }');
  writeFileSync(join(folder, 'assets', 'logo-1a2b3c.png'), PICTURE);
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'compress-console.mjs'), folder]);
  ({ server, url } = await serve(folder));
});

afterAll(() => {
  server.close();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

async function serve(from: string): Promise<{ server: Server; url: string }> {
  const pages = new ConsolePages(from);
  const app = express();
  app.use((request, response, next) => void pages.serve(request, response).catch(next));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.status(error instanceof DomainError ? ERROR_CODES[error.code].status : 500).end();
  });
  const listening = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => listening.once('listening', resolve));
  return { server: listening, url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` };
}

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The path as it is, and the answer as it came over the line: fetch would tidy up one and decompress the other. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(parts) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe('a file of the build', () => {
  it.each([
    ['assets/index-1a2b3c.js', 'text/javascript; charset=utf-8', SCRIPT],
    ['assets/index-1a2b3c.css', 'text/css; charset=utf-8', 'body { color: red; }'],
    ['icon.svg', 'image/svg+xml', SMALL],
  ])('%s has its media type and its content', async (name, type, text) => {
    const answer = await fetch(`${url}/console/${name}`);
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, type, text]);
  });

  it('may be kept for a year if its name has a hash, and is asked for again otherwise', async () => {
    const asset = await fetch(`${url}/console/assets/index-1a2b3c.js`);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await fetch(`${url}/console/icon.svg`)).headers.get('cache-control')).toBe('no-cache');
  });

  it('comes in the best encoding that the browser takes, and caches are told', async () => {
    const path = '/console/assets/index-1a2b3c.js';
    const [brotli, gzip, plain] = [
      await get(path, { 'accept-encoding': 'gzip, deflate, br' }),
      await get(path, { 'accept-encoding': 'gzip' }),
      await get(path),
    ];
    const encodings = [brotli, gzip, plain].map(({ headers }) => headers['content-encoding']);
    expect(encodings).toEqual(['br', 'gzip', undefined]);
    expect(brotliDecompressSync(brotli.bytes).toString()).toBe(SCRIPT);
    expect(gunzipSync(gzip.bytes).toString()).toBe(SCRIPT);
    expect(plain.bytes.toString()).toBe(SCRIPT);
    for (const { headers } of [brotli, gzip, plain]) {
      expect([headers.vary, headers['content-type']]).toEqual(['Accept-Encoding', 'text/javascript; charset=utf-8']);
    }
  });

  it('stays as it is if it is compressed already, or small', async () => {
    const picture = await get('/console/assets/logo-1a2b3c.png', { 'accept-encoding': 'br' });
    expect([picture.headers['content-encoding'], picture.bytes.equals(PICTURE)]).toEqual([undefined, true]);
    const icon = await get('/console/icon.svg', { 'accept-encoding': 'br' });
    expect([icon.headers['content-encoding'], icon.bytes.toString()]).toEqual([undefined, SMALL]);
  });

  it('is 404 when it is not there, so that an old page does not take the index for a script', async () => {
    expect((await get('/console/assets/index-0old.js')).status).toBe(404);
  });
});

describe('the index', () => {
  it.each([
    ['/console', 'console/'],
    ['/console/', './'],
    ['/console/index.html', './'],
    ['/console/review', './'],
    ['/console/review/0198c0de', '../'],
    ['/console/campaigns/spring.sale/variables', '../../'],
    ['/console/customers/a%2Fb', '../'],
    ['/console/.build-stamp', './'],
  ])('answers %s, and its base %s leads to the folder of the console', async (path, base) => {
    const { status, headers, bytes } = await get(path);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(bytes.toString()).toBe(INDEX.replace('"./"', `"${base}"`));
    expect(new URL(base, `https://example.com/prefix${path}`).pathname).toBe('/prefix/console/');
  });

  it('is answered to HEAD without its text, and to no other method', async () => {
    const head = await get('/console', {}, 'HEAD');
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await get('/console', {}, method)).status).toBe(405);
    }
  });
});

describe('an address that leads out of the folder', () => {
  it.each([
    '/console/../secret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/..%2fsecret.txt',
    '/console/assets/..%2f..%2fsecret.txt',
    '/console/..\\secret.txt',
    '/console/..%5csecret.txt',
    '/console/assets/%2e%2e%5c%2e%2e%5csecret.txt',
    '/console/icon.svg%00.html',
    '/console/%',
    '/console/%ff',
  ])('%s is refused', async (path) => {
    const { status, bytes } = await get(path);
    expect([status, bytes.includes(SECRET)]).toEqual([404, false]);
  });

  it('with an absolute path, or of a hidden file, shows no file', async () => {
    for (const path of [`/console/${encodeURIComponent(join(folder, '..', 'secret.txt'))}`, '/console//etc/passwd']) {
      const { bytes } = await get(path);
      expect([path, bytes.includes(SECRET), bytes.includes('root:')]).toEqual([path, false, false]);
    }
  });
});

it('without a build, one page says what to do', async () => {
  const missing = await serve(join(folder, 'missing'));
  try {
    const answer = await fetch(`${missing.url}/console/review`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('<code>npm run build</code>');
  } finally {
    missing.server.close();
  }
});
