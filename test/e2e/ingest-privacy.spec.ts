import { sharedApp, type SharedApp } from '../support/app';
import { type IngestFamily, INGEST_FAMILIES, PURCHASE, registerTypes } from '../support/builders';
import { aWorkspace, type Answer, type Client, reviewEntries, type Workspace } from '../support/client';

/** One of these in an answer or a view is a leak. */
const WHO = ['zaphod-7f3a9c', 'trillian@heartofgold.com', '+4915155566677', 'marvin-device-42'];
const SAID = ['prefect-nickname', 'secret-cargo-1979', '73191.55', 'deep-thought-note'];
const [EXTERNAL, EMAIL, PHONE, DEVICE] = WHO as [string, string, string, string];
const [NICKNAME, CARGO, AMOUNT, NOTE] = SAID as [string, string, string, string];

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

interface House {
  readonly workspace: Workspace;
  /** May send `shop.orders` alone. */
  readonly client: Client;
}

async function aHouse(): Promise<House> {
  const workspace = await aWorkspace(service);
  // Takes other properties too, so that both families can say the same.
  const loose = {
    eventType: 'loose',
    properties: { ...PURCHASE.properties, amount: { type: 'number' } },
    additionalProperties: 'allow',
  };
  await registerTypes(workspace.admin, [PURCHASE, loose]);
  const client = await workspace.client({
    scopes: ['external-events:write', 'cdp-events:write'],
    sources: ['shop.orders'],
  });
  return { workspace, client };
}

const PROPERTIES = {
  nickname: NICKNAME,
  cargo: CARGO,
  amount: Number(AMOUNT),
  list: [{ note: NOTE, mail: EMAIL, call: PHONE }],
};

function aTellingEvent(
  { family, anEvent, anIdentity, type, properties }: IngestFamily,
  fields: object = {},
): Record<string, unknown> {
  const identity =
    family === 'cdp'
      ? { externalUserId: EXTERNAL, email: EMAIL, phone: PHONE, deviceKey: DEVICE }
      : anIdentity('EXTERNAL', EXTERNAL);
  return anEvent({ [type]: 'loose', identity, [properties]: PROPERTIES, ...fields });
}

function expectSilence(text: string, secrets: readonly string[]): void {
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
}

const textOf = ({ headers, body }: Answer): string => JSON.stringify([[...headers], body]);

/** Everything that can be read of a workspace. */
async function views({ admin }: Workspace): Promise<string> {
  const texts = [JSON.stringify((await admin.get('/v1/events?limit=200')).body)];
  for (const entry of await reviewEntries(admin)) {
    texts.push(JSON.stringify(entry), JSON.stringify((await admin.get(`/v1/review-entries/${entry.id}`)).body));
  }
  return texts.join('\n');
}

describe.each(INGEST_FAMILIES)('what was said in confidence, in the $family family,', (family) => {
  const { path, batchPath, anIdentity, id, type, time, properties } = family;
  const telling = (fields: object = {}) => aTellingEvent(family, fields);

  it.each([
    [
      'every identifier misspelt',
      { identity: { externaluserid: EXTERNAL, mail: EMAIL, Phone: PHONE, device: DEVICE } },
    ],
    ['values where kinds belong', { identity: { type: EMAIL, value: EXTERNAL } }],
    ['an identity that is text', { identity: EXTERNAL }],
    ['an identity that is a list', { identity: [EXTERNAL, EMAIL, [PHONE], { x: DEVICE }] }],
    ['an identity in objects', { identity: { type: { a: EXTERNAL }, email: [EMAIL], value: { phone: { x: PHONE } } } }],
    ['no possible address', { identity: { ...anIdentity('EMAIL', `${EMAIL} ${EXTERNAL}`) } }],
    ['no possible number', { identity: { ...anIdentity('PHONE', `${PHONE}99999999999`) } }],
    ['an identity that is too long', { identity: { ...anIdentity('EXTERNAL', EXTERNAL.repeat(40)) } }],
    ['an identity that cannot be stored', { identity: { ...anIdentity('EXTERNAL', `${EXTERNAL}\u0000`) } }],
    ['a wrong time', { [time]: 'yesterday' }],
    ['an unknown field', { colour: { ...PROPERTIES } }],
    ['properties that cannot be stored', { [properties]: { ...PROPERTIES, x: `${CARGO}\u0000` } }],
    ['a number that cannot be kept', { [properties]: { ...PROPERTIES, x: 2 ** 60 } }],
    ['properties too deep', { [properties]: { a: { b: { c: { d: { e: { f: { g: { h: PROPERTIES } } } } } } } } }],
    ['a foreign source', { source: 'crm.contacts' }],
    ['no source', { source: undefined }],
    ['properties that are a list', { [properties]: [PROPERTIES] }],
  ])('is in no error and no view: %s', async (_what, fields) => {
    const { workspace, client } = await aHouse();
    const single = await client.post(path, telling(fields));
    const batch = await client.post(batchPath, { items: [telling(fields)] });
    expect([403, 422]).toContain(single.status);
    expect(batch.body.results).toMatchObject([{ status: 'error', error_code: single.body.error_code }]);
    for (const answer of [single, batch]) expectSilence(textOf(answer), [...WHO, ...SAID]);
    expectSilence(await views(workspace), [...WHO, NICKNAME]);
  });

  it('is in no error and no view of bodies that are refused as a whole', async () => {
    const { workspace, client } = await aHouse();
    const text = JSON.stringify(telling());
    const answers = [
      await client.send(path, `${text}}`),
      await client.send(path, text.slice(0, -20)),
      await client.send(path, text.replaceAll('"', "'")),
      await client.send(path, `${text}${' '.repeat(256 * 1024)}`),
      await client.send(path, JSON.stringify([telling()])),
      await client.send(batchPath, JSON.stringify({ items: [telling()] }).slice(0, -1)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 413, 422, 400]);
    for (const answer of answers) expectSilence(textOf(answer), [...WHO, ...SAID]);
    expectSilence(await views(workspace), WHO);
  });

  it('is in no error and no view of bodies that clients encoded in a wrong way', async () => {
    const { workspace, client } = await aHouse();
    const text = JSON.stringify(telling());
    const fields = Object.entries(telling()['identity'] as Record<string, string>).map(
      ([name, value]): [string, string] => [`identity[${name}]`, value],
    );
    const form = new URLSearchParams(fields).toString();
    const answers = [
      await client.send(path, JSON.stringify(text)),
      await client.send(path, JSON.stringify([text])),
      await client.send(batchPath, JSON.stringify({ items: [text] })),
      await client.send(path, Buffer.from(text, 'utf16le')),
      await client.send(path, form),
      await client.send(path, form.replaceAll('%5B', '[').replaceAll('%5D', ']')),
      await client.post(path, telling({ [properties]: JSON.stringify(PROPERTIES) })),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 200, 400, 400, 400, 422]);
    for (const answer of answers) expectSilence(textOf(answer), [...WHO, ...SAID]);
    expectSilence((await views(workspace)).replaceAll('\\\\u0000', ''), [...WHO, NICKNAME]);
  });

  it('is in no view of them either where only its declaration tells that it is personal', async () => {
    const { workspace, client } = await aHouse();
    const event = telling({ [type]: 'purchase' });
    const answers = [
      await client.post(batchPath, { items: [event], colour: 1 }),
      await client.post(path, [event]),
      await client.send(path, `${JSON.stringify(event)}}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 400]);
    expectSilence(await views(workspace), [...WHO, NICKNAME]);
  });

  it('is in no view when the field of the identity itself is misspelt', async () => {
    const { workspace, client } = await aHouse();
    for (const name of ['identiy', 'identitiy', 'user_identity', 'Identity', 'identities', 'who']) {
      const answer = await client.post(
        path,
        telling({ identity: undefined, [name]: anIdentity('EXTERNAL', EXTERNAL) }),
      );
      expectSilence(textOf(answer), WHO);
    }
    expectSilence(await views(workspace), WHO);
  });

  it('is in no error and no view when it stands where names belong', async () => {
    const { workspace, client } = await aHouse();
    const events = [
      telling({ identity: { [EMAIL]: 'EMAIL' } }),
      telling({ [EMAIL]: true }),
      telling({ [properties]: { [EMAIL]: 'a\u0000' } }),
      telling({ [properties]: { [`\u0000${PHONE}`]: 1 } }),
    ];
    for (const event of events) expectSilence(textOf(await client.post(path, event)), WHO);
    expectSilence(await views(workspace), WHO);
  });

  it('is in no view of stored events and of warnings about them', async () => {
    const { workspace, client } = await aHouse();
    const event = telling({ [time]: '2999-01-01T00:00:00Z' });
    const answers = [
      await client.post(path, event),
      await client.post(path, { ...event, [properties]: { ...PROPERTIES, more: 1 } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 200]);
    for (const answer of answers) expectSilence(textOf(answer), [...WHO, ...SAID]);
    const shown = await views(workspace);
    expect(shown).toContain('clock_skew');
    expect(shown).toContain('payload_mismatch');
    expect(shown).toContain(String(event[id]));
    expectSilence(shown, [...WHO, NICKNAME]);
  });

  it('is in no answer where identities conflict', async () => {
    const { workspace, client } = await aHouse();
    const cdp = INGEST_FAMILIES[1];
    const send = (identity: object) => client.post(cdp.path, cdp.anEvent({ identity }));
    await send({ externalUserId: EXTERNAL, email: EMAIL });
    await send({ externalUserId: 'arthur-0001', deviceKey: DEVICE });
    const conflict = await send({ email: EMAIL, deviceKey: DEVICE });
    expect(conflict.status).toBe(409);
    expectSilence(textOf(conflict), WHO);
    expect((await send({ externalUserId: 'ford-0002', email: EMAIL })).status).toBe(202);
    expectSilence(await views(workspace), WHO);
  });
});
