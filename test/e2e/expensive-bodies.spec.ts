import { gzipSync } from 'node:zlib';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent, INGEST_FAMILIES, type IngestFamily } from '../support/builders';
import { aReadyClient, expectProblem, faultsOf, theReviewEntry } from '../support/client';

const MEBIBYTE = 1024 * 1024;
const BATCH_BYTES_MAX = 5 * MEBIBYTE;
/** Two thirds of the 64 KiB that properties may have, and a thousand beside them. */
const VALUES_MAX = 44_691;
const KEYS_MAX = 4_000;
const GZIP = { headers: { 'content-encoding': 'gzip' } };

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const listed = (entry: string, count: number): string => Array.from({ length: count }, () => entry).join(',');

/** An event of which the free-form object is this JSON text. */
function withProperties({ anEventWith }: IngestFamily, json: string): string {
  return JSON.stringify(anEventWith('PUT HERE')).replace('"PUT HERE"', () => json);
}

describe.each(INGEST_FAMILIES)('bodies of the $family family that are expensive to parse', (family) => {
  const { path, batchPath, anEvent, id, properties } = family;

  it('are refused whole when an event by itself has more values or keys than an event may have', async () => {
    const client = await aReadyClient(service);
    const keys = Array.from({ length: KEYS_MAX + 1 }, (_unused, n) => `"${n.toString(36).padStart(16)}":1`).join(',');
    const rows = [
      [withProperties(family, `{"a":[${listed('[]', VALUES_MAX / 2)}]}`), ' too_large'],
      [withProperties(family, `{${keys}}`), ' too_many_keys'],
      [`{${keys}}`, ' too_many_keys'],
    ] as const;
    for (const [json, fault] of rows) {
      expectProblem(await client.send(path, json), 422, 'validation_failed', [fault]);
    }
  });

  it('cost a batch only the items that have too many values or keys', async () => {
    const client = await aReadyClient(service);
    const keys = Array.from({ length: KEYS_MAX + 1 }, (_unused, n) => `"${n.toString(36).padStart(16)}":1`).join(',');
    const wide = `{"${properties}":[${listed('[]', VALUES_MAX / 2)}]}`;
    const items = [JSON.stringify(anEvent()), wide, JSON.stringify(anEvent()), `{${keys}}`, JSON.stringify(anEvent())];
    const { status, body } = await client.send(batchPath, `{"items":[${items.join(' , ')}]}`);
    expect([status, body.results.map((result: any) => result.error_code ?? result.status)]).toEqual([
      200,
      ['accepted', 'validation_failed', 'accepted', 'validation_failed', 'accepted'],
    ]);
    expect(faultsOf(body.results[1])).toEqual(['items[1] too_large']);
    expect(faultsOf(body.results[3])).toEqual(['items[3] too_many_keys']);
    const { items: entries } = (await client.get('/v1/review-entries')).body;
    expect(entries.map(({ reason }: any) => reason).sort()).toEqual(['too_large', 'too_many_keys']);
    const kept = entries.find(({ reason }: any) => reason === 'too_large');
    expect((await client.get(`/v1/review-entries/${kept.id}`)).body).toMatchObject({ payloadState: 'whole' });
  });

  it('are taken in the order of their items, whatever their size', async () => {
    const client = await aReadyClient(service);
    const sizes = [10, 60_000, 10, 100, 31_000, 33_000, 10, 60_000, 1];
    const items = sizes.map((size, n) => family.anEventWith({ n, note: 'ä'.repeat(size / 2) }));
    const { body } = await client.send(batchPath, JSON.stringify({ items }, null, 2));
    const stored = body.results.map((result: any) => client.get(`/v1/events/${result.event_id}`));
    const events = (await Promise.all(stored)).map(({ body: event }: any) => event);
    expect(events.map((event: any) => [event.externalEventId, event.properties.n])).toEqual(
      items.map((item, n) => [item[id], n]),
    );
  });

  it('are refused as a batch of too many items before these are parsed', async () => {
    const client = await aReadyClient(service);
    const answer = await client.send(batchPath, `{"items":[${listed('{"a":[[],[],[]]}', 100_000)}]}`);
    expectProblem(answer, 422, 'batch_too_large', ['items too_many_items']);
    expect(await theReviewEntry(client)).toMatchObject({ stage: 'request', reason: 'too_many_items' });
  });

  it('are told where they are malformed', async () => {
    const client = await aReadyClient(service);
    const good = listed(JSON.stringify(anEvent({ source: 'ä'.repeat(100) })), 300);
    const rows = [
      [`{"items":[${good},{"a":1 x}]}`, 'x}]}'],
      [`{"items":[${good},]}`, ']}'],
      [`{"items":[${good}],"about" x}`, 'x}'],
      [`{"items" x:[${good}]}`, 'x:['],
    ] as const;
    for (const [text, from] of rows) {
      const { status, body } = await client.send(batchPath, text);
      expect([status, body.error_code]).toEqual([400, 'malformed_json']);
      const position = /character (\d+) is/.exec(body.message)?.[1];
      if (position !== undefined) expect(text.slice(Number(position))).toBe(text.slice(text.lastIndexOf(from)));
    }
    const cut = await client.send(batchPath, `{"items":[${good}`);
    expect([cut.status, cut.body.message]).toEqual([400, 'The body is not valid JSON: it ends too early.']);
  });
});

describe('gzip bodies', () => {
  const [{ batchPath }] = INGEST_FAMILIES;
  const batchOf = (bytes: number): string => {
    const batch = JSON.stringify({ items: [anExternalEvent()] });
    return batch.padEnd(bytes, ' ');
  };

  it('are taken when honest events repeat one another', async () => {
    const client = await aReadyClient(service);
    const identity = { type: 'EXTERNAL', value: 'customer-1' };
    const attributes = {
      note: 'The same words in each event. '.repeat(30),
      list: Array.from({ length: 20 }, () => 'again'),
    };
    const items = Array.from({ length: 1_000 }, () => anExternalEvent({ identity, attributes }));
    const json = JSON.stringify({ items });
    const body = gzipSync(json);
    expect(json.length / body.length).toBeGreaterThan(30);
    expect((await client.send(batchPath, body, GZIP)).status).toBe(200);
  });

  it('are refused when they inflate to more than a hundred times their size, and are kept by their beginning', async () => {
    const client = await aReadyClient(service);
    for (const text of [batchOf(BATCH_BYTES_MAX), '['.repeat(2_600_000), '\u0000'.repeat(BATCH_BYTES_MAX)]) {
      const answer = await client.send(batchPath, gzipSync(text), GZIP);
      expectProblem(answer, 413, 'payload_too_large', []);
      expect(answer.body.message).toContain('more than 100 times its size');
    }
    const { items } = (await client.get('/v1/review-entries')).body;
    expect(new Set(items.map(({ reason }: any) => reason))).toEqual(new Set(['payload_too_large']));
  });

  it('may inflate as far as they like up to what a single event may have', async () => {
    const client = await aReadyClient(service);
    expect((await client.send(batchPath, gzipSync(batchOf(256 * 1024)), GZIP)).status).toBe(200);
  });
});
