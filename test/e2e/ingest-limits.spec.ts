import { gzipSync } from 'node:zlib';
import { startApp, type TestApp } from '../support/app';
import { type IngestFamily, INGEST_FAMILIES, nestedJson, registerTypes } from '../support/builders';
import { aClient, aReadyClient, expectProblem, storedEvent, theReviewEntry } from '../support/client';

const KIBIBYTE = 1024;
const SINGLE_BYTES_MAX = 256 * KIBIBYTE;
const BATCH_BYTES_MAX = 5 * KIBIBYTE * KIBIBYTE;
const PROPERTIES_BYTES_MAX = 64 * KIBIBYTE;
/** One character to a reader, two to JavaScript, four to UTF-8. */
const WIDE = '😀';

let service: TestApp;

beforeAll(async () => {
  service = await startApp();
});

afterAll(() => service.stop());

/** An event whose free-form object is this JSON text, as it is. */
function withProperties({ anEventWith, properties }: IngestFamily, json: string): string {
  return JSON.stringify(anEventWith({ put: 'here' })).replace(
    `"${properties}":{"put":"here"}`,
    `"${properties}":${json}`,
  );
}

describe.each(INGEST_FAMILIES)('the limits of the $family family', (family) => {
  const { path, batchPath, anEvent, anEventWith, anIdentity, identityPath, id, type, properties } = family;

  it.each([
    ['source', 128],
    [id, 256],
  ])('take a %s of %i characters, and not one more', async (field, charactersMax) => {
    const client = await aReadyClient(service);
    for (const character of ['x', 'ä', WIDE]) {
      const event = anEvent({ [field]: character.repeat(charactersMax) });
      const stored = await storedEvent(client, await client.post(path, event));
      expect([stored.source, stored.externalEventId]).toEqual([event['source'], event[id]]);
      const longer = anEvent({ [field]: character.repeat(charactersMax + 1) });
      expectProblem(await client.post(path, longer), 422, 'validation_failed', [`${field} too_long`]);
    }
  });

  it('take a type of 128 characters, and not one more', async () => {
    const client = await aClient(service);
    const name = 'x'.repeat(128);
    await registerTypes(client, [{ eventType: name, properties: {} }]);
    expect((await client.post(path, anEventWith({}, { [type]: name }))).status).toBe(202);
    expectProblem(await client.post(path, anEventWith({}, { [type]: `${name}x` })), 422, 'validation_failed', [
      `${type} too_long`,
    ]);
  });

  it('take an identifier of 256 characters after trimming, and not one more', async () => {
    const client = await aReadyClient(service);
    const send = (value: string) => client.post(path, anEvent({ identity: anIdentity('EXTERNAL', value) }));
    expect((await send('x'.repeat(256))).status).toBe(202);
    expect((await send(WIDE.repeat(256))).status).toBe(202);
    expect((await send(`  ${'y'.repeat(256)}  `)).status).toBe(202);
    expectProblem(await send('x'.repeat(257)), 422, 'validation_failed', [`${identityPath('EXTERNAL')} too_long`]);
    expectProblem(await send('x'.repeat(5_000)), 422, 'validation_failed', [`${identityPath('EXTERNAL')} too_long`]);
  });

  it('take 65,536 bytes of properties, and not one more', async () => {
    const client = await aReadyClient(service);
    const text = 'ä'.repeat((PROPERTIES_BYTES_MAX - '{"a":""}'.length) / 2);
    const event = await storedEvent(
      client,
      await client.send(path, withProperties(family, JSON.stringify({ a: text }))),
    );
    expect(event.properties).toEqual({ a: text });
    const answer = await client.send(path, withProperties(family, JSON.stringify({ a: `${text}x` })));
    expectProblem(answer, 422, 'validation_failed', [`${properties} too_large`]);
  });

  it('take properties of 8 levels, and not one more', async () => {
    const client = await aReadyClient(service);
    const event = await storedEvent(client, await client.send(path, withProperties(family, nestedJson(8))));
    expect(JSON.stringify(event.properties)).toBe(nestedJson(8));
    expectProblem(await client.send(path, withProperties(family, nestedJson(9))), 422, 'validation_failed', [
      `${properties} too_deep`,
    ]);
    const lists = `{"a":${'['.repeat(8)}${']'.repeat(8)}}`;
    expectProblem(await client.send(path, withProperties(family, lists)), 422, 'validation_failed', [
      `${properties} too_deep`,
    ]);
  });

  it('take 300 keys in properties, counted over all levels, and not one more', async () => {
    const client = await aReadyClient(service);
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_unused, key) => [`k${key}`, key]));
    expect((await client.post(path, anEventWith(keys(300)))).status).toBe(202);
    expect((await client.post(path, anEventWith({ a: [keys(149)], b: keys(149) }))).status).toBe(202);
    for (const wide of [keys(301), { a: [keys(149)], b: keys(150) }]) {
      expectProblem(await client.post(path, anEventWith(wide)), 422, 'validation_failed', [
        `${properties} too_many_keys`,
      ]);
    }
  });

  it('take a single body of 262,144 bytes, and not one more', async () => {
    const client = await aReadyClient(service);
    const event = JSON.stringify(anEvent());
    const padded = `${event}${' '.repeat(SINGLE_BYTES_MAX - event.length)}`;
    expect((await client.send(path, padded)).status).toBe(202);
    expectProblem(await client.send(path, `${padded} `), 413, 'payload_too_large', []);
  });

  it('take a batch body of 5 MiB, and not one byte more', async () => {
    const client = await aReadyClient(service);
    const batch = JSON.stringify({ items: [anEvent()] });
    const padded = `${batch}${' '.repeat(BATCH_BYTES_MAX - batch.length)}`;
    expect((await client.send(batchPath, padded)).status).toBe(200);
    expectProblem(await client.send(batchPath, `${padded} `), 413, 'payload_too_large', []);
  });

  it('take a batch of 1 to 1,000 items, and not one more', async () => {
    const client = await aReadyClient(service);
    const items = Array.from({ length: 1_000 }, () => anEvent());
    const { status, body } = await client.post(batchPath, { items });
    expect([status, body.results.length]).toEqual([200, 1_000]);
    expect(new Set(body.results.map((result: any) => result.status))).toEqual(new Set(['accepted']));
    expectProblem(await client.post(batchPath, { items: [...items, anEvent()] }), 422, 'batch_too_large', [
      'items too_many_items',
    ]);
    expect(await theReviewEntry(client)).toMatchObject({ stage: 'request', reason: 'too_many_items' });
    expectProblem(await client.post(batchPath, { items: [] }), 422, 'validation_failed', ['items too_few_items']);
  });

  it('let six full batches in at once, of a type that nobody has sent before', async () => {
    const client = await aReadyClient(service);
    const batches = Array.from({ length: 6 }, () => ({ items: Array.from({ length: 1_000 }, () => anEvent()) }));
    const answers = await Promise.all(batches.map((batch) => client.post(batchPath, batch)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('hold after inflation', async () => {
    const client = await aReadyClient(service);
    const gzip = (at: string, text: string) =>
      client.send(at, gzipSync(text), { headers: { 'content-encoding': 'gzip' } });
    const event = JSON.stringify(anEvent());
    expect((await gzip(path, `${event}${' '.repeat(SINGLE_BYTES_MAX - event.length)}`)).status).toBe(202);
    expectProblem(
      await gzip(path, `${event}${' '.repeat(SINGLE_BYTES_MAX - event.length + 1)}`),
      413,
      'payload_too_large',
      [],
    );
    expectProblem(await gzip(batchPath, ' '.repeat(BATCH_BYTES_MAX + 1)), 413, 'payload_too_large', []);
  });

  it('hold for bodies in chunks, which announce no length', async () => {
    const client = await aReadyClient(service);
    const event = JSON.stringify(anEvent());
    expect((await client.sendChunked(path, [event.slice(0, 10), event.slice(10)])).status).toBe(202);
    const chunks = Array.from({ length: 6 }, () => ' '.repeat(KIBIBYTE * KIBIBYTE));
    expectProblem(await client.sendChunked(path, [event, ' '.repeat(SINGLE_BYTES_MAX)]), 413, 'payload_too_large', []);
    expectProblem(await client.sendChunked(batchPath, chunks), 413, 'payload_too_large', []);
  });
});

describe('limits that an operator sets', () => {
  it('are in force', async () => {
    const small = await startApp({
      BATCH_ITEMS_MAX: '2',
      BATCH_BYTES_MAX: '4096',
      BODY_BYTES_MAX: '2048',
      PROPERTIES_BYTES_MAX: '1024',
    });
    try {
      const client = await aClient(small);
      const [{ path, batchPath, anEvent, anEventWith }] = INGEST_FAMILIES;
      const items = [anEvent(), anEvent()];
      expect((await client.post(batchPath, { items })).status).toBe(200);
      expectProblem(await client.post(batchPath, { items: [...items, anEvent()] }), 422, 'batch_too_large');
      expectProblem(await client.send(batchPath, ' '.repeat(4_097)), 413, 'payload_too_large');
      expectProblem(await client.send(path, ' '.repeat(2_049)), 413, 'payload_too_large');
      expectProblem(await client.post(path, anEventWith({ a: 'x'.repeat(1_024) })), 422, 'validation_failed', [
        'attributes too_large',
      ]);
      // The document names these limits once, and no others beside its fields.
      const { info, components } = (await client.get('/docs-json')).body;
      expect(info.description).toContain('at most 2 items and 4096 bytes, any other body 2048 bytes');
      const { ExternalEventDto, ExternalEventBatchDto, CdpEventDto, CdpEventBatchDto } = components.schemas;
      const fields = [ExternalEventDto, ExternalEventBatchDto, CdpEventDto, CdpEventBatchDto];
      expect(JSON.stringify(fields)).not.toMatch(/\bKiB\b|1,000/);
    } finally {
      await small.stop();
    }
  });
});
