import { sharedApp, type SharedApp } from '../support/app';
import { expectProblem, type Answer, type Client } from '../support/client';
import { aCampaign, campaignOf, inc, mutate, set, stateOf, summary, type Campaign } from '../support/runtime';

let service: SharedApp;
let campaign: Campaign;
let participant: Client;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  participant = campaign.participant();
  await campaign.define(POINTS, 'number');
});

const POINTS = 'state.user.points';
const MISMATCH = 'mutation-payload-mismatch';
const withKey = (key: string, ops: unknown = [inc(POINTS)], fields: object = {}): Promise<Answer> =>
  participant.send('/v1/runtime/state:mutate', JSON.stringify({ ops, ...fields }), {
    headers: { 'idempotency-key': key },
  });

describe('a repeated mutation_id', () => {
  it('answers duplicate with the entries of the original, to the letter, and applies nothing', async () => {
    const send = () => mutate(participant, [inc(POINTS, 0.1), inc(POINTS, 2)], { mutation_id: 'm' });
    const first = await send();
    await mutate(participant, [set(POINTS, 77)]);
    const again = await send();
    expect([first.body.status, again.status, again.body.status]).toEqual(['applied', 200, 'duplicate']);
    expect(JSON.stringify(again.body.mutations)).toBe(JSON.stringify(first.body.mutations));
    expect(again.headers.get(MISMATCH)).toBeNull();
    expect((await stateOf(participant)).user.points).toBe(77);
  });

  it('is the same in either spelling and in the header Idempotency-Key', async () => {
    expect(summary(await mutate(participant, [inc(POINTS)], { mutation_id: 'm' }))).toBe('200 applied');
    expect(summary(await mutate(participant, [inc(POINTS)], { mutationId: 'm' }))).toBe('200 duplicate');
    for (const key of ['m', '"m"']) expect(summary(await withKey(key))).toBe('200 duplicate');
    expectProblem(await withKey('"m'), 422, 'validation_failed', ['Idempotency-Key format']);
    expect(summary(await withKey('m', [inc(POINTS)], { mutation_id: 'm', mutationId: 'm' }))).toBe('200 duplicate');
    expect(summary(await withKey('n'))).toBe('200 applied');
    expectProblem(await withKey('m', [inc(POINTS)], { mutation_id: 'n' }), 422, 'validation_failed', [
      'Idempotency-Key conflicting_fields',
    ]);
  });

  it('is the same in a header in UTF-8 or Latin-1', async () => {
    expect(summary(await mutate(participant, [inc(POINTS)], { mutation_id: 'été' }))).toBe('200 applied');
    for (const bytes of [Buffer.from('été'), Buffer.from('été', 'latin1')]) {
      expect(summary(await withKey(bytes.toString('latin1')))).toBe('200 duplicate');
    }
  });

  it('has 1 to 255 characters', async () => {
    const send = (id: unknown) => mutate(participant, [inc(POINTS)], { mutation_id: id });
    for (const id of ['x', 'x'.repeat(255), '😀'.repeat(255), ' ', 'client:x', '__proto__', 'a\'b"c\\']) {
      expect([summary(await send(id)), summary(await send(id))]).toEqual(['200 applied', '200 duplicate']);
    }
    const wrong: [unknown, string][] = [
      ...([
        ['', 'empty'],
        ['x'.repeat(256), 'too_long'],
        ['😀'.repeat(256), 'too_long'],
      ] as [unknown, string][]),
      ...([
        [7, 'type'],
        [['m'], 'type'],
        ['a\u0000', 'invalid_characters'],
        ['\ud800', 'invalid_characters'],
      ] as [unknown, string][]),
    ];
    for (const [id, code] of wrong) {
      expectProblem(await send(id), 422, 'validation_failed', [`mutation_id ${code}`]);
    }
    expectProblem(await withKey('x'.repeat(256)), 422, 'validation_failed', ['Idempotency-Key too_long']);
    expectProblem(await withKey(''), 422, 'validation_failed', ['Idempotency-Key empty']);
  });

  it('with other operations answers the original, and says so in a header', async () => {
    const first = await mutate(participant, [inc(POINTS)], { mutation_id: 'm' });
    const others = [[inc(POINTS, 2)], [inc(POINTS), inc(POINTS)], [set(POINTS, 1)], [inc('state.user.nothing')]];
    for (const ops of others) {
      const { status, body, headers } = await mutate(participant, ops, { mutation_id: 'm' });
      expect([status, body]).toEqual([200, { ...first.body, status: 'duplicate' }]);
      expect(headers.get(MISMATCH)).toBe('true');
    }
    expect((await stateOf(participant)).user.points).toBe(1);
  });

  it('with the same operations written otherwise is no other mutation', async () => {
    await mutate(participant, [inc(POINTS, 10)], { mutation_id: 'm' });
    const body = `{"mutationId":"m", "ops":[{ "value":1e1, "op":"inc", "path":"state.user.points" }]}`;
    const again = await participant.send('/v1/runtime/state:mutate', body);
    expect([again.body.status, again.headers.get(MISMATCH)]).toEqual(['duplicate', null]);
  });

  it('is answered also when the variable was archived meanwhile', async () => {
    const first = await mutate(participant, [inc(POINTS)], { mutation_id: 'm' });
    await campaign.archive(POINTS);
    const again = await mutate(participant, [inc(POINTS)], { mutation_id: 'm' });
    expect([again.status, again.body]).toEqual([200, { ...first.body, status: 'duplicate' }]);
    expect(summary(await mutate(participant, [inc(POINTS)], { mutation_id: 'n' }))).toBe('400 undeclared_variable');
  });

  it('of a refused mutation is free again, whatever it was refused for', async () => {
    const refusals: [unknown, object, string][] = [
      [[inc(POINTS), { path: POINTS, op: 'mul', value: 1 }], {}, '422 validation_failed'],
      [[inc(POINTS)], { user_id: 'x' }, '403 context_violation'],
      [[inc(POINTS), inc('state.user.coins')], {}, '400 undeclared_variable'],
      [[inc(POINTS), set('state.sessionId', 'x')], {}, '400 system_field'],
      [[inc(POINTS), set(POINTS, 'x')], {}, '422 validation_failed'],
      [[inc(POINTS), inc(POINTS, 2 ** 53)], {}, '422 validation_failed'],
    ];
    for (const [ops, fields, answer] of refusals) {
      expect(summary(await mutate(participant, ops, { ...fields, mutation_id: 'm' }))).toBe(answer);
    }
    await campaign.define('state.user.coins', 'number');
    const good = await mutate(participant, [inc(POINTS), inc('state.user.coins')], { mutation_id: 'm' });
    expect([summary(good), good.body.mutations[0].current]).toEqual(['200 applied', 1]);
  });

  it('is another one of another participant and in another campaign', async () => {
    const other = campaignOf(campaign.workspace, campaign.issuer);
    await other.define(POINTS, 'number');
    const senders = [
      ...[participant, campaign.participant()],
      ...[campaign, other].map((each) => each.participant({ sub: 'ann' })),
    ];
    for (const status of ['200 applied', '200 duplicate']) {
      for (const sender of senders)
        expect(summary(await mutate(sender, [inc(POINTS)], { mutation_id: 'm' }))).toBe(status);
    }
  });

  it('is the same in both mounts, and whatever the app and the session of the token', async () => {
    const send = (claims: object, path: string) =>
      campaign.participant({ sub: 'ann', ...claims }).post(path, { ops: [inc(POINTS)], mutation_id: 'm' });
    const own = `/v1/campaigns/${campaign.campaignId}/runtime/state:mutate`;
    expect(summary(await send({}, '/v1/runtime/state:mutate'))).toBe('200 applied');
    expect(summary(await send({ app_id: 'web' }, own))).toBe('200 duplicate');
    expect(summary(await send({ sid: 's-2' }, own))).toBe('200 duplicate');
  });

  it('of fifty simultaneous requests is applied once, and the other forty-nine are told so', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => mutate(participant, [inc(POINTS)], { mutation_id: 'm' })),
    );
    const statuses = answers.map(summary).sort();
    expect([statuses[0], new Set(statuses.slice(1))]).toEqual(['200 applied', new Set(['200 duplicate'])]);
    const entries = answers.map(({ body }) => JSON.stringify(body.mutations));
    expect(new Set(entries)).toEqual(new Set([JSON.stringify([{ path: POINTS, previous: null, current: 1 }])]));
    expect((await stateOf(participant)).user.points).toBe(1);
  });
});
