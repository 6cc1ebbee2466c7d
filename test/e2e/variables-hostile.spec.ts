import { sharedApp, type SharedApp } from '../support/app';
import { aClient, type Answer, type Client, expectProblem, faultsOf } from '../support/client';

let service: SharedApp;
let client: Client;

beforeAll(async () => {
  service = await sharedApp();
  client = await aClient(service);
});

const PATH = '/v1/campaigns/hostile/variables';
const text = (characters: number): string => JSON.stringify('x'.repeat(characters));
const send = (body: string): Promise<Answer> => client.send(`${PATH}:define`, body);
const list = async (): Promise<any[]> => (await client.get(PATH)).body.variables;

/** The JSON text of a definition whose fields are JSON texts. */
function definition(fields: Readonly<Record<string, string>>): string {
  const all = { scope: '"user"', name: '"any"', type: '"number"', ...fields };
  return `{${Object.entries(all)
    .map(([name, value]) => `"${name}": ${value}`)
    .join(', ')}}`;
}

async function expectFaults(body: string, faults: readonly string[]): Promise<void> {
  expectProblem(await send(body), 422, 'validation_failed', faults);
  expect(await list()).toEqual([]);
}

describe('a definition', () => {
  it.each<[string, string[]]>([
    ['{}', ['scope required', 'name required', 'type required']],
    ['[]', [' type']],
    ['null', [' type']],
    ['"user"', [' type']],
    ['{"scope": null, "name": null, "type": null}', ['scope required', 'name required', 'type required']],
    ['{"scope": 1, "name": true, "type": []}', ['scope type', 'name type', 'type type']],
    [definition({ scope: '"User"', type: '"integer"' }), ['scope enum', 'type enum']],
    [definition({ scope: '"__proto__"', type: '"constructor"' }), ['scope enum', 'type enum']],
    [definition({ defualt: '1', status: '"defined"' }), ['defualt unknown_field', 'status unknown_field']],
    [definition({ __proto__x: '1' }), ['__proto__x unknown_field']],
    ['{"scope": "user", "name": "a", "type": "number", "__proto__": {"default": 1}}', ['__proto__ unknown_field']],
    [
      '{"__proto__": {"scope": "user", "name": "a", "type": "number"}}',
      [...['scope required', 'name required', 'type required', '__proto__ unknown_field']],
    ],
    ['{"constructor": 1, "scope": "user", "name": "a", "type": "number"}', ['constructor unknown_field']],
  ])('is refused as %s', (body, faults) => expectFaults(body, faults));

  it('is refused with every fault that it has, of shape and of meaning, and one for each field', async () => {
    const fields = { scope: '"users"', name: '"__proto__"', type: '"boolean"', default: '[1e999]', owner: '"me"' };
    const { body } = await send(definition({ ...fields, description: text(1_001) }));
    expect(faultsOf(body).sort()).toEqual([
      ...['default type', 'description too_long', 'name reserved_name', 'owner unknown_field', 'scope enum'],
    ]);
  });

  it.each([
    ...['sessionId', 'session_id', 'userId', 'user_id', 'campaignId', 'campaign_id', 'appId', 'app_id', 'version'],
    ...['createdAt', 'updatedAt', 'constructor', 'prototype', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'],
  ])('is refused with the reserved name %s in every scope', async (name) => {
    for (const scope of ['"user"', '"campaign"', '"app"']) {
      await expectFaults(definition({ scope, name: JSON.stringify(name) }), ['name reserved_name']);
    }
  });

  it.each(['', ' ', 'a b', '1a', '_a', 'a-b', 'a.b', 'état', 'a\n', '😀', 'state.user.a', 'x'.repeat(101), '__proto'])(
    'is refused with the name %j',
    (name) => expectFaults(definition({ name: JSON.stringify(name) }), ['name format']),
  );

  it.each<[string, string]>([
    ['a\u0000', 'format'],
    ['a\ud800', 'format'],
  ])('is refused with the name %j, which cannot be stored either', async (name, code) => {
    const { status, body } = await send(definition({ name: JSON.stringify(name) }));
    expect([status, faultsOf(body).sort()]).toEqual([422, [`name ${code}`, 'name invalid_characters']]);
  });
});

describe('a default', () => {
  const WRONG_TYPES: [string, string][] = [
    ...(['"1"', 'true', '[]', '[1]', '{}', '{"__proto__": 1}'] as const).map((value): [string, string] => [
      'number',
      value,
    ]),
    ...(['1', 'false', '["a"]', '{"length": 1}', '{"toString": null}'] as const).map((value): [string, string] => [
      'string',
      value,
    ]),
    ...(['0', '"true"', '[]', '{"valueOf": true}'] as const).map((value): [string, string] => ['boolean', value]),
  ];

  it.each(WRONG_TYPES)('of a %s is refused as %s', (type, value) =>
    expectFaults(definition({ type: JSON.stringify(type), default: value }), ['default type']),
  );

  it.each([
    '1e999',
    '-1e999',
    '9007199254740993',
    '-9007199254740993',
    '0.1234567890123456789',
    '0.1000000000000000055511151231257827',
    '1e-400',
    '1e300',
    '12345678901234567890',
  ])('that would not be kept as the number that it is, is refused: %s', async (value) => {
    await expectFaults(definition({ default: value }), ['default range']);
    await expectFaults(definition({ default: value, type: '"none"' }), ['default range', 'type enum']);
    await expectFaults(definition({ default: value, type: '"string"' }), ['default type']);
  });

  it.each(['NaN', 'Infinity', '-Infinity', 'undefined', '01', '+1', '.5', "'a'"])(
    'that is no JSON makes a body that is none: %s',
    async (value) => {
      expectProblem(await send(definition({ default: value })), 400, 'malformed_json');
    },
  );

  it('that is the text NaN is text, and no number', async () => {
    await expectFaults(definition({ default: '"NaN"' }), ['default type']);
  });

  it.each([
    ['4,097 bytes', text(4_097)],
    ['4,098 bytes in 2,049 characters', JSON.stringify('é'.repeat(2_049))],
    ['200,000 bytes', text(200_000)],
  ])('of more than 4 KiB of UTF-8 is refused: %s', (_words, value) =>
    expectFaults(definition({ type: '"string"', default: value }), ['default too_large']),
  );

  it.each(['"\\u0000"', '"a\\ud800"', '"\\udc00a"'])('that cannot be stored is refused: %s', (value) =>
    expectFaults(definition({ type: '"string"', default: value }), ['default invalid_characters']),
  );

  it('that is both too large and not to be stored is refused as both', () =>
    expectFaults(definition({ type: '"string"', default: `"${'x'.repeat(4_096)}\\u0000"` }), [
      'default invalid_characters',
      'default too_large',
    ]));

  it('nested 60 deep is refused like any other list', () =>
    expectFaults(definition({ default: '['.repeat(60) + ']'.repeat(60) }), ['default type']));

  it.each<[string, string, unknown]>([
    ['"number"', '-0', 0],
    ['"number"', '-0.0e5', 0],
    ['"number"', '1.0', 1],
    ['"number"', '1e15', 1e15],
    ['"number"', '1.5e-300', 1.5e-300],
    ['"number"', '0.1000000000000000000000000000000000', 0.1],
    ['"number"', 'null', undefined],
    ['"string"', text(4_096), 'x'.repeat(4_096)],
    ['"string"', JSON.stringify('😀'.repeat(1_024)), '😀'.repeat(1_024)],
    ['"string"', '"__proto__"', '__proto__'],
  ])('of the type %s is taken as %s', async (type, value, shown) => {
    const by = await aClient(service);
    const { status, body } = await by.send(`${PATH}:define`, definition({ type, default: value }));
    expect([status, body.variable?.default]).toEqual([200, shown]);
    expect((await by.get(PATH)).body.variables[0].default).toEqual(shown);
    // Said again it changes nothing, and is the same.
    expect((await by.send(`${PATH}:define`, definition({ type, default: value }))).body).toEqual(body);
  });
});

describe('a description', () => {
  it.each([
    ['of 1,001 characters', text(1_001), 'too_long'],
    ['with U+0000', '"a\\u0000"', 'invalid_characters'],
    ['with half a character', '"\\ud83d"', 'invalid_characters'],
    ['that is a number', '1', 'type'],
    ['that is a list', '["a"]', 'type'],
  ])('%s is refused', (_words, description, code) =>
    expectFaults(definition({ description }), [`description ${code}`]),
  );

  it('of 1,000 characters is taken, of whatever width', async () => {
    const by = await aClient(service);
    const description = '😀'.repeat(1_000);
    const { status } = await by.post(`${PATH}:define`, { scope: 'app', name: 'a', type: 'boolean', description });
    expect([status, (await by.get(PATH)).body.variables[0].description]).toEqual([200, description]);
  });
});
