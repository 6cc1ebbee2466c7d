import { sharedApp, type SharedApp } from '../support/app';
import { type IngestFamily, INGEST_FAMILIES, nestedJson } from '../support/builders';
import { aReadyClient, expectProblem, faultsOf, reviewEntries, storedEvent, theReviewEntry } from '../support/client';

/** As deep as JSON is parsed, within an event. */
const DEEP = 60;
const TOO_DEEP = 20_000;
const U0000 = '\u0000';
const HALF = '\ud83d';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

/** A valid event with `json` as it is in the place of one of its fields. */
function withField({ anEvent }: IngestFamily, field: string, json: string): string {
  return JSON.stringify(anEvent({ [field]: 'PUT HERE' })).replace('"PUT HERE"', json);
}

/** The same for its free-form object. */
function withProperties(family: IngestFamily, json: string): string {
  return JSON.stringify(family.anEventWith('PUT HERE')).replace('"PUT HERE"', json);
}

describe.each(INGEST_FAMILIES)('hostile values in the $family family', (family) => {
  const { path, batchPath, anEvent, anEventWith, anIdentity, identityPath, id, type, time, properties } = family;

  it.each(['null', '[]', '[{}]', '"text"', '4711', '-0', '1e999', 'true', 'false'])(
    'are refused when the body is %s',
    async (json) => {
      const client = await aReadyClient(service);
      for (const route of [path, batchPath])
        expectProblem(await client.send(route, json), 422, 'validation_failed', [' type']);
      expect(await theReviewEntry(client)).toMatchObject({
        severity: 'error',
        reason: 'type',
        occurrences: expect.any(Number),
      });
    },
  );

  it('cost a batch only the items that they are', async () => {
    const client = await aReadyClient(service);
    const items = ['null', '[]', '"text"', '4711', 'true', '{}', nestedJson(DEEP), '['.repeat(DEEP) + ']'.repeat(DEEP)];
    const json = `{"items":[${[...items, JSON.stringify(anEvent())].join(',')}]}`;
    const { status, body } = await client.send(batchPath, json);
    expect(status).toBe(200);
    expect(body.results.map((result: any) => result.error_code ?? result.status)).toEqual([
      ...items.map(() => 'validation_failed'),
      'accepted',
    ]);
    for (const place of [0, 1, 2, 3, 4, 7]) expect(faultsOf(body.results[place])).toEqual([`items[${place}] type`]);
    expect(await reviewEntries(client)).toHaveLength(items.length);
  });

  it.each([
    ['U+0000', U0000],
    ['half of a surrogate pair', HALF],
  ])('are refused when they hold %s, wherever it stands', async (_what, bad) => {
    const client = await aReadyClient(service);
    const text = `a${bad}b`;
    const rows: [object, string][] = [
      [anEvent({ source: text }), 'source'],
      [anEvent({ [id]: text }), id],
      [anEvent({ identity: anIdentity('EXTERNAL', text) }), identityPath('EXTERNAL')],
      [anEvent({ identity: anIdentity('EMAIL', `${text}@example.com`) }), identityPath('EMAIL')],
      [anEventWith({ a: text }), `${properties}.a`],
      [anEventWith({ a: [{ b: [1, text] }] }), `${properties}.a[0].b[1]`],
    ];
    for (const [event, at] of rows) {
      expectProblem(await client.post(path, event), 422, 'validation_failed', [`${at} invalid_characters`]);
    }
    const named = await client.post(path, anEventWith({ [text]: 1 }));
    expectProblem(named, 422, 'validation_failed', [`${properties}["a\ufffdb"] invalid_characters`]);
    expectProblem(await client.post(path, anEvent({ [type]: text })), 422, 'validation_failed');
    expectProblem(await client.post(path, anEvent({ [time]: text })), 422, 'validation_failed', [
      `${time} invalid_characters`,
    ]);
    expectProblem(await client.post(path, anEvent({ [text]: 1 })), 422, 'validation_failed', [
      '["a\ufffdb"] unknown_field',
    ]);
  });

  it.each([
    ['U+0000', U0000],
    ['half of a surrogate pair', HALF],
  ])('are kept in review, escaped, when they hold %s', async (_what, bad) => {
    const client = await aReadyClient(service);
    await client.post(path, anEventWith({ note: `a${bad}b` }));
    expect((await theReviewEntry(client)).payload[properties]).toEqual({ note: `a${bad}b` });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'are refused when a field is called %s',
    async (name) => {
      const client = await aReadyClient(service);
      const member = `"${name}":{"${id}":"x","polluted":true}`;
      const event = JSON.stringify(anEvent()).replace('{', `{${member},`);
      expectProblem(await client.send(path, event), 422, 'validation_failed', [`${name} unknown_field`]);
      const identity = JSON.stringify(anEvent({ identity: { ...anIdentity('EXTERNAL', 'c-1'), PUT: 1 } })).replace(
        '"PUT":1',
        member,
      );
      expectProblem(await client.send(path, identity), 422, 'validation_failed', [`identity.${name} unknown_field`]);
      expectProblem(await client.send(batchPath, `{"items":[{}],${member}}`), 422, 'validation_failed', [
        `${name} unknown_field`,
      ]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('do not stand in for fields that are missing', async () => {
    const client = await aReadyClient(service);
    const answer = await client.send(path, `{"__proto__":${JSON.stringify(anEvent())}}`);
    expectProblem(answer, 422, 'validation_failed');
    expect(faultsOf(answer.body)).toEqual(
      expect.arrayContaining(['source required', `${id} required`, '__proto__ unknown_field']),
    );
  });

  it('are stored and given back intact as names of properties', async () => {
    const client = await aReadyClient(service);
    const json =
      '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"toString":"text","":0,"a.b":[null],"hasOwnProperty":false}';
    const answer = await client.send(path, withProperties(family, json));
    expect(answer.status).toBe(202);
    const event = await storedEvent(client, answer);
    expect(Object.entries(event.properties).sort()).toEqual(Object.entries(JSON.parse(json)).sort());
    expect(Object.hasOwn(event.properties, '__proto__')).toBe(true);
    const inItem = await client.send(batchPath, `{"items":[${withProperties(family, json)}]}`);
    expect(inItem.body.results).toMatchObject([{ status: 'accepted' }]);
  });

  it('are stored and given back intact as texts and numbers of properties', async () => {
    const client = await aReadyClient(service);
    const values = {
      texts: [
        '',
        ' ',
        '\\u0000',
        '😀',
        'e\u0301',
        '\u2028',
        '\u200b',
        "'; DROP TABLE events; --",
        '${7*7}',
        '$1',
        '\ufffe',
        '\u0001\u007f',
      ],
      numbers: [0, -1, 0.1, 1e-7, 1.5e15, 5e-324, 9_007_199_254_740_992, -9_007_199_254_740_992],
      others: [true, false, null, {}, []],
    };
    const event = await storedEvent(client, await client.post(path, anEventWith(values)));
    expect(event.properties).toEqual(values);
  });

  it.each([
    ...['1e999', '-1e999', '9007199254740993', '12345678901234567890'],
    ...['0.1234567890123456789', '1e-400', '-1e-400', '4e-324', '1.00000000000000000001'],
  ])('are refused when a number would not be kept as it came: %s', async (json) => {
    const client = await aReadyClient(service);
    const send = (text: string) => client.send(path, withProperties(family, text));
    expectProblem(await send(`{"n":${json}}`), 422, 'validation_failed', [`${properties}.n range`]);
    expectProblem(await send(`{"a":[${json}]}`), 422, 'validation_failed', [`${properties}.a[0] range`]);
    // In a body that is parsed some items at a time.
    const rest = JSON.stringify(anEventWith({ text: 'x'.repeat(50_000) }));
    const items = [rest, withProperties(family, `{"n":${json}}`), rest.replace('order-', 'x')].join(',');
    const { results } = (await client.send(batchPath, `{"items":[${items}]}`)).body;
    expect(results.map(({ status }: any) => status)).toEqual(['accepted', 'error', 'accepted']);
    expect(faultsOf(results[1])).toEqual([`items[1].${properties}.n range`]);
  });

  it('are kept as numbers however those are written', async () => {
    const client = await aReadyClient(service);
    const text = '{"n":[0.10,1.0,1e2,100e-2,0.30000000000000000,5e-324]}';
    const event = await storedEvent(client, await client.send(path, withProperties(family, text)));
    expect(event.properties.n).toEqual([0.1, 1, 100, 1, 0.3, 5e-324]);
  });

  it.each(['1e999', '12345678901234567890', '0.1234567890123456789', '1e-400'])(
    'are kept in review as they came when a number cannot be: %s',
    async (json) => {
      const client = await aReadyClient(service);
      const text = withProperties(family, `{"n":${json}}`);
      expectProblem(await client.send(path, text), 422, 'validation_failed');
      const { payload } = await theReviewEntry(client);
      // As a number, as text, or in the text of the whole: but neither null nor other digits.
      expect(JSON.stringify(payload)).toContain(json);
    },
  );

  it('are read with the last of two equal keys', async () => {
    const client = await aReadyClient(service);
    const answer = await client.send(
      path,
      JSON.stringify(anEventWith({ PUT: 1 })).replace('"PUT":1', '"a":1,"b":2,"a":3'),
    );
    expect(await storedEvent(client, answer)).toMatchObject({ properties: { a: 3, b: 2 } });
    const sources = JSON.stringify(anEvent()).replace('{', '{"source":"first",').replace(/}$/, ',"source":"last"}');
    expect(await storedEvent(client, await client.send(path, sources))).toMatchObject({ source: 'last' });
  });

  it.each([
    ['lists', '['.repeat(DEEP) + ']'.repeat(DEEP)],
    ['objects', nestedJson(DEEP)],
    ['lists as the items of a batch', `{"items":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`],
    ['batches in batches', `${'{"items":['.repeat(DEEP / 2)}${']}'.repeat(DEEP / 2)}`],
  ])(`are refused when the body is ${DEEP} levels of %s, and can be read in review`, async (_what, json) => {
    const client = await aReadyClient(service);
    expectProblem(await client.send(path, json), 422, 'validation_failed');
    const batch = await client.send(batchPath, json);
    expect([batch.status, batch.body.results?.[0].status ?? 'error']).toEqual([
      batch.body.results ? 200 : 422,
      'error',
    ]);
    const entries = await reviewEntries(client);
    expect(entries.reduce((sum: number, { occurrences }) => sum + Number(occurrences), 0)).toBe(2);
    for (const { id: entryId } of entries) expect((await client.get(`/v1/review-entries/${entryId}`)).status).toBe(200);
  });

  it.each([
    ['lists', '['.repeat(TOO_DEEP) + ']'.repeat(TOO_DEEP)],
    ['lists that are never closed', '['.repeat(TOO_DEEP)],
    ['objects', nestedJson(TOO_DEEP)],
    ['lists as the items of a batch', `{"items":${'['.repeat(TOO_DEEP)}${']'.repeat(TOO_DEEP)}}`],
    ['batches in batches', `${'{"items":['.repeat(TOO_DEEP)}${']}'.repeat(TOO_DEEP)}`],
    ['lists in one of several items', `{"items":[{},${'['.repeat(65)}${']'.repeat(65)},{}]}`],
  ])('are refused before they are parsed when the body nests too deep: %s', async (_what, json) => {
    const client = await aReadyClient(service);
    for (const route of [path, batchPath]) {
      expectProblem(await client.send(route, json), 400, 'malformed_json', [' too_deep']);
    }
    const [{ payload, ...entry }, ...others] = await reviewEntries(client, '&unmask=true');
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ stage: 'request', reason: 'too_deep', occurrences: 2 });
    expect(payload.slice(0, 20)).toBe(json.slice(0, 20));
  });

  it(`are refused ${DEEP} levels deep in any field, and kept`, async () => {
    const rows = [properties, 'identity', 'source', id, time, 'colour'];
    const answers = rows.map(async (field) => {
      const client = await aReadyClient(service);
      expectProblem(await client.send(path, withField(family, field, nestedJson(DEEP))), 422, 'validation_failed');
      expect(await theReviewEntry(client)).toMatchObject({ severity: 'error', payload: expect.anything() });
    });
    await Promise.all(answers);
  });

  it('have at most 100 of their faults listed for one event, and the rest announced', async () => {
    const client = await aReadyClient(service);
    const colours = Object.fromEntries(Array.from({ length: 2_000 }, (_unused, number) => [`colour${number}`, number]));
    const answer = await client.post(path, anEvent(colours));
    expectProblem(answer, 422, 'validation_failed');
    expect(answer.body.details).toHaveLength(101);
    expect(answer.body.details.at(-1)).toMatchObject({ code: 'too_many_faults' });
  });
});
