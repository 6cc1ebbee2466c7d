import fc from 'fast-check';
import { sharedApp, type SharedApp } from '../support/app';
import { nestedJson } from '../support/builders';
import { expectProblem, type Client } from '../support/client';
import { aCampaign, mutate, set, stateOf, summary, type Campaign } from '../support/runtime';

let service: SharedApp;
let campaign: Campaign;
let participant: Client;
let before: unknown;

beforeAll(async () => {
  service = await sharedApp();
  campaign = await aCampaign(service);
  participant = campaign.participant();
  for (const scope of ['user', 'campaign', 'app']) {
    for (const type of ['number', 'string', 'boolean']) await campaign.define(`state.${scope}.a_${type}`, type);
  }
  const ops = ['user', 'campaign', 'app'].map((scope) => set(`state.${scope}.a_number`, 2 ** 53));
  expect(summary(await mutate(participant, ops))).toBe('200 applied');
  before = await stateOf(participant);
});
afterEach(async () => {
  expect(await stateOf(participant)).toEqual(before);
});

const send = (body: string) => participant.send('/v1/runtime/state:mutate', body);
const operation = (path: string, op: string, value: string): string =>
  `{"ops":[{"path":${JSON.stringify(path)},"op":${JSON.stringify(op)},"value":${value}}]}`;
const onNumber = (op: string, value: string): string => operation('state.user.a_number', op, value);

/** A body, and its answer as `status error_code`. */
const BODIES: readonly (readonly [string, string])[] = [
  ...['', '{', 'nope', '{"ops":[NaN]}', '{"ops":[-Infinity]}', "{'ops':[]}", '{"ops":[],}', '\ufeff{'].map(
    (body) => [body, '400 malformed_json'] as const,
  ),
  ...['null', '[]', '"ops"', '7', 'true', '{}', '{"ops":null}', '{"ops":{}}', '{"ops":"x"}', '{"ops":7}'].map(
    (body) => [body, '422 validation_failed'] as const,
  ),
  ...[
    '{"ops":[]}',
    '{"ops":{"0":{}},"length":1}',
    '{"ops":[null]}',
    '{"ops":[[]]}',
    '{"ops":[{}]}',
    '{"ops":["x"]}',
  ].map((body) => [body, '422 validation_failed'] as const),
  ['{"__proto__":{"ops":[]}}', '422 validation_failed'],
  ['{"constructor":1,"ops":[]}', '422 validation_failed'],
  ...[
    ...['1e999', '-1e999', '9'.repeat(400), '9007199254740993', '-9007199254740993', '1e300'],
    ...['0.1234567890123456789', '1e-400'],
  ].map((value) => [onNumber('set', value), '422 validation_failed'] as const),
  ...[
    '1',
    '0.6',
    '-0.1234567890123456789',
    '-1e-400',
    '1e999',
    '1e300',
    '9'.repeat(400),
    '"1"',
    'true',
    'null',
    '{}',
    '[1]',
  ].map((value) => [onNumber('inc', value), '422 validation_failed'] as const),
  [onNumber('dec', '-1'), '422 validation_failed'],
  ...['__proto__', 'constructor', 'toString', 'SET', ' set', '', 'inc\u0000'].map(
    (op) => [onNumber(op, '1'), '422 validation_failed'] as const,
  ),
  ...['state.__proto__', 'state.user.__proto__', 'state.user.constructor', 'state.constructor.prototype'].map(
    (path) => [operation(path, 'set', '1'), '400 system_field'] as const,
  ),
  ...['state.sessionId', 'state.user.sessionId', 'state.app.version', 'state.user.__proto__.a_number'].map(
    (path) => [operation(path, 'set', '1'), '400 system_field'] as const,
  ),
  ...[
    '',
    '.',
    'state',
    'state.user',
    'state.user.',
    'state..a_number',
    'state.user.a_number.',
    ' state.user.a_number',
  ].map((path) => [operation(path, 'inc', '-1'), '400 undeclared_variable'] as const),
  ...[
    '__proto__',
    'constructor',
    'STATE.user.a_number',
    'state.user.A_number',
    'state.user.[a_number]',
    'a@b.example',
  ].map((path) => [operation(path, 'inc', '-1'), '400 undeclared_variable'] as const),
  ...['x'.repeat(257), 'state.user.\u0000', 'state.user.\ud800'].map(
    (path) => [operation(path, 'inc', '-1'), '422 validation_failed'] as const,
  ),
  ...[JSON.stringify('x'.repeat(4_097)), '"\\u0000"', '"\\ud800"', '1', '[]'].map(
    (value) => [operation('state.user.a_string', 'set', value), '422 validation_failed'] as const,
  ),
  ...['"true"', '0', '1', '""', '{}'].map(
    (value) => [operation('state.app.a_boolean', 'set', value), '422 validation_failed'] as const,
  ),
  ...['{"path":"state.user.a_string","op":"set","value":"x","__proto__":1}', nestedJson(60)].map(
    (entry) => [`{"ops":[${entry}]}`, '422 validation_failed'] as const,
  ),
  [`{"ops":[${nestedJson(3_000)}]}`, '400 malformed_json'],
];

describe('a mutation that nobody should send', () => {
  it.each(BODIES)('%.60j is answered with %s and changes nothing', async (body, answer) => {
    expect(summary(await send(body))).toBe(answer);
  });

  it('with 101 or with 10,000 operations is refused', async () => {
    const ops = (count: number) => `{"ops":[${Array.from({ length: count }, () => '{"a":1}').join()}]}`;
    const { status, body } = await send(ops(101));
    expect([status, body.details[0]]).toMatchObject([422, { path: 'ops', code: 'too_many_items' }]);
    expect(summary(await send(ops(10_000)))).toBe('422 validation_failed');
    const valid = Array.from({ length: 10_000 }, () => set('state.user.a_string', 'x'));
    expect(summary(await mutate(participant, valid))).toBe('413 payload_too_large');
  });

  it('in another content type, or in a broken compression, is refused', async () => {
    const with_ = (headers: Record<string, string>) =>
      participant.send('/v1/runtime/state:mutate', onNumber('dec', '1'), { headers });
    expect(summary(await with_({ 'content-type': 'text/plain' }))).toBe('415 unsupported_media_type');
    expect(summary(await with_({ 'content-encoding': 'gzip' }))).toBe('400 malformed_json');
    expect(summary(await with_({ 'content-encoding': 'nope' }))).toBe('415 unsupported_media_type');
  });

  it('never brings a 500, whatever JSON it is', async () => {
    const path = fc.oneof(
      fc.constantFrom('state.user.a_number', 'state.app.a_string', 'state.sessionId', 'state.user.__proto__'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const op = fc.oneof(fc.constantFrom('inc', 'dec', 'set', 'constructor'), fc.string({ maxLength: 5 }));
    const value = fc.jsonValue({ maxDepth: 2 });
    const entry = fc.oneof(
      fc.record({ path, op, value }, { requiredKeys: [] }),
      fc.dictionary(fc.string({ unit: 'binary', maxLength: 10 }), value, { maxKeys: 3 }),
      value,
    );
    const odd = fc.record(
      { mutation_id: value, campaign_id: value, user_id: value, extra: value },
      { requiredKeys: [] },
    );
    // The last operation makes sure that none of it is applied.
    const last = { path: 'state.user.a_number', op: 'inc', value: 1 };
    const bodies = fc
      .tuple(fc.array(entry, { maxLength: 4 }), odd)
      .map(([ops, rest]) => ({ ...rest, ops: [...ops, last] }));
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const answer = await send(JSON.stringify(body));
        expect([400, 403, 422]).toContain(answer.status);
        expect(answer.body.details.length).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });

  it('is answered without a word of what it said', async () => {
    const secret = 'ann.smith@example.com';
    const answers = await Promise.all([
      mutate(participant, [set(secret, 1)]),
      mutate(participant, [set(`state.user.${secret}`, secret)]),
      mutate(participant, [set('state.user.a_number', secret)]),
      mutate(participant, [{ path: 'state.user.a_number', op: secret, value: 1 }]),
      mutate(participant, [], { mutation_id: secret, user_id: secret }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(answer.body)).not.toMatch(/ann\.smith|example\.com/);
    }
  });

  it('keeps to the form of every error', async () => {
    expectProblem(await send('{'), 400, 'malformed_json');
    expectProblem(await send(onNumber('inc', '1')), 422, 'validation_failed', ['ops[0] range']);
  });
});
