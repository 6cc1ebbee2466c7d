import { deflateSync, gzipSync } from 'node:zlib';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent, INGEST_FAMILIES } from '../support/builders';
import { aReadyClient, expectProblem, reviewEntries, storedEvent, theReviewEntry } from '../support/client';
import { cpuMsSince } from '../support/cpu-time';

const MEBIBYTE = 1024 * 1024;
const GZIP_BOMB_BYTES = 100 * MEBIBYTE;
/** 100 KiB, which is below every limit. */
const GZIP_BOMB = gzipSync(Buffer.alloc(GZIP_BOMB_BYTES, ' '));
/** 4.9 KiB of lists, of which nothing is wrong: as hard to parse as anything of this size. */
const LISTS = Array.from({ length: 490 }, () => [[[[]]]]);

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

describe.each(INGEST_FAMILIES)('hostile bytes at the $family family', ({ family, path, batchPath, anEvent, id }) => {
  const routes = [path, batchPath];

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/jsonx'],
    ['application/json-patch+json'],
    ['application/json; charset=latin1'],
    ['multipart/form-data; boundary=x'],
  ])('are refused with 415 as %s', async (type) => {
    const client = await aReadyClient(service);
    for (const route of routes) {
      expectProblem(
        await client.send(route, '{', { headers: { 'content-type': type } }),
        415,
        'unsupported_media_type',
        [],
      );
    }
  });

  it.each([
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
    ['Application/JSON'],
    ['application/json; profile=x'],
  ])('are read as JSON when they come as %s', async (type) => {
    const client = await aReadyClient(service);
    expect((await client.send(path, JSON.stringify(anEvent()), { headers: { 'content-type': type } })).status).toBe(
      202,
    );
  });

  it('are refused with 415 without any content type, and in an encoding other than gzip', async () => {
    const client = await aReadyClient(service);
    const bytes = new TextEncoder().encode(JSON.stringify(anEvent()));
    const untyped = await client.sendChunked(path, [bytes], { headers: { 'content-type': '' } });
    expectProblem(untyped, 415, 'unsupported_media_type');
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'banana']) {
      const headers = { 'content-encoding': encoding };
      expectProblem(await client.send(path, deflateSync(bytes), { headers }), 415, 'unsupported_media_type');
    }
  });

  it('are taken in gzip, however the encoding is written', async () => {
    const client = await aReadyClient(service);
    for (const encoding of ['gzip', 'GZIP', 'x-gzip']) {
      const event = anEvent();
      const answer = await client.send(path, gzipSync(JSON.stringify(event)), {
        headers: { 'content-encoding': encoding },
      });
      expect(await storedEvent(client, answer)).toMatchObject({ externalEventId: event[id] });
    }
    const batch = gzipSync(JSON.stringify({ items: [anEvent(), anEvent()] }));
    const { status, body } = await client.send(batchPath, batch, { headers: { 'content-encoding': 'gzip' } });
    expect([status, body.results.length]).toEqual([200, 2]);
  });

  it.each([
    ['an object that does not end', '{"source":"shop.orders"'],
    ['a trailing comma', '{"source":"shop.orders",}'],
    ['something behind the object', '{"source":"shop.orders"} x'],
    ['two objects', '{"source":"a"}{"source":"b"}'],
    ['single quotes', "{'source':'shop.orders'}"],
    ['a comment', '{"source":"shop.orders"/* hm */}'],
    ['NaN', '{"source":NaN}'],
    ['a raw line break in a string', '{"source":"shop\norders"}'],
    ['half an escape', '{"source":"\\u00"}'],
    ['XML', '<event source="shop.orders"/>'],
  ])('are refused with 400 when they hold %s, and kept in review as text', async (_what, text) => {
    const client = await aReadyClient(service);
    for (const route of routes) {
      const answer = await client.send(route, text);
      expectProblem(answer, 400, 'malformed_json', []);
      expect(JSON.stringify(answer.body)).not.toContain('shop');
    }
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'error',
      stage: 'request',
      reason: 'malformed_json',
      family,
      payload: text,
      occurrences: 2,
      status: 'open',
      source: null,
      externalEventId: null,
      eventType: null,
    });
  });

  it('are refused with 400 when nothing is sent', async () => {
    const client = await aReadyClient(service);
    for (const route of routes) expectProblem(await client.send(route, ''), 400, 'malformed_json', []);
    expectProblem(await client.sendChunked(path, []), 400, 'malformed_json', []);
    expect(await theReviewEntry(client)).toMatchObject({ reason: 'malformed_json', occurrences: 3 });
  });

  it.each([
    ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d)],
    ['an overlong slash', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
    ['zeros', new Uint8Array(1_000)],
  ])('are refused with 400 when they are %s, and kept', async (_what, bytes) => {
    const client = await aReadyClient(service);
    expectProblem(await client.send(path, bytes), 400, 'malformed_json', []);
    expect((await theReviewEntry(client)).payload).toMatch(/\S/);
  });

  it('are read as JSON behind a byte order mark', async () => {
    const client = await aReadyClient(service);
    expect((await client.send(path, `\ufeff${JSON.stringify(anEvent())}`)).status).toBe(202);
  });

  it.each([
    ['no gzip', Buffer.from('{"source":"shop.orders"}')],
    ['gzip that ends too early', gzipSync('{"source":"shop.orders"}').subarray(0, 15)],
    ['gzip with a wrong checksum', Buffer.concat([gzipSync('{"a":1}').subarray(0, -8), Buffer.alloc(8)])],
    ['empty', Buffer.alloc(0)],
  ])('are refused with 400 when they should be gzip and are %s', async (_what, bytes) => {
    const client = await aReadyClient(service);
    expectProblem(
      await client.send(path, bytes, { headers: { 'content-encoding': 'gzip' } }),
      400,
      'malformed_json',
      [],
    );
    expect(await theReviewEntry(client)).toMatchObject({ stage: 'request', reason: 'malformed_json' });
  });

  it('are refused with 413 when they inflate far beyond their limit, without inflating them', async () => {
    const client = await aReadyClient(service);
    const before = process.memoryUsage().rss;
    for (const route of routes) {
      expectProblem(
        await client.send(route, GZIP_BOMB, { headers: { 'content-encoding': 'gzip' } }),
        413,
        'payload_too_large',
        [],
      );
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(GZIP_BOMB_BYTES / 2);
    for (const entry of await reviewEntries(client))
      expect(entry).toMatchObject({ stage: 'request', reason: 'payload_too_large' });
  });

  it('are kept with their beginning when they are too large', async () => {
    const client = await aReadyClient(service);
    const event = JSON.stringify(anEvent());
    expectProblem(await client.sendChunked(path, [event.padEnd(300 * 1024, ' ')]), 413, 'payload_too_large');
    expect((await theReviewEntry(client)).payload).toMatch(/^\{"source":"shop\.orders"/);
  });
});

describe('hostile bytes of the largest size', () => {
  const batchPath = '/v1/external-events:batch';
  const TURNS = 3;

  /**
   * The least CPU time of all turns, of each: in some, the process collects what earlier tests have left behind. They take turns,
   * because a machine that others load is slower at one time than at another.
   */
  async function leastCpuMs(...works: readonly (() => Promise<void>)[]): Promise<number[]> {
    const least = works.map(() => Infinity);
    for (let turn = 1; turn <= TURNS; turn += 1) {
      for (const [index, work] of works.entries()) {
        const start = process.cpuUsage();
        await work();
        least[index] = Math.min(least[index]!, cpuMsSince(start));
      }
    }
    return least;
  }

  it('are kept, and keep the service busy for less than a batch that is taken', async () => {
    const texts = {
      zeros: '\u0000'.repeat(5 * MEBIBYTE),
      quotes: '"'.repeat(5 * MEBIBYTE),
      brackets: `${'['.repeat(2.5 * MEBIBYTE)}${']'.repeat(2.5 * MEBIBYTE)}`,
    };
    const names = Object.keys(texts);
    const clients = await Promise.all(names.map(() => aReadyClient(service)));
    const sender = await aReadyClient(service);
    // As bytes: in a text the test itself would look for personal data, and parse it.
    const hostile = Object.values(texts)
      .map((text) => Buffer.from(text))
      .map((bytes, index) => async (): Promise<void> => {
        expect([400, 422]).toContain((await clients[index]!.send(batchPath, bytes)).status);
      });
    const batches = Array.from({ length: TURNS }, () =>
      Array.from({ length: 1_000 }, () => anExternalEvent({ attributes: { note: LISTS } })),
    ).map((items) => Buffer.from(JSON.stringify({ items })));
    const honest = async (): Promise<void> => {
      expect((await sender.send(batchPath, batches.pop())).status).toBe(200);
    };
    const [honestCpuMs, ...hostileCpuMs] = await leastCpuMs(honest, ...hostile);
    for (const client of clients) expect((await theReviewEntry(client)).stage).toBe('request');
    expect(names.filter((_name, index) => hostileCpuMs[index]! >= honestCpuMs!)).toEqual([]);
  });
});
