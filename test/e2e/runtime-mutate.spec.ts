import { sharedApp, type SharedApp } from '../support/app';
import { rowsOf } from '../support/database';
import { expectProblem, type Answer, type Client } from '../support/client';
import { aCampaign, dec, inc, mutate, set, stateOf, summary, type Campaign } from '../support/runtime';

let service: SharedApp;
let campaign: Campaign;
let participant: Client;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  participant = campaign.participant({ sid: 's-1' });
  await campaign.define('state.user.points', 'number', { default: 5 });
  await campaign.define('state.user.motto', 'string');
  await campaign.define('state.campaign.total', 'number');
  await campaign.define('state.app.open', 'boolean', { default: true });
});

const UNTOUCHED = { user: { points: 5, motto: null }, campaign: { total: null }, app: { open: true } };
const POINTS = 'state.user.points';
const TOTAL = 'state.campaign.total';

/** A refusal of a mutation that hits a wrong path: the problem document has `path` beside the rest. */
function expectPathRefusal({ status, body }: Answer, code: string, path: string, faults: readonly string[]): void {
  expect([status, body.error_code, body.path]).toEqual([400, code, path]);
  expect(body.details.map((fault: { path: string; code: string }) => `${fault.path} ${fault.code}`)).toEqual(faults);
}

describe('POST /v1/runtime/state:mutate', () => {
  it('answers 200 with the status applied and an entry for each operation, in their order', async () => {
    const ops = [inc(POINTS, 10), set('state.user.motto', 'go'), dec(TOTAL, 2), set('state.app.open', false)];
    const { status, body } = await mutate(participant, ops);
    expect([status, body]).toEqual([
      200,
      {
        status: 'applied',
        mutations: [
          { path: POINTS, previous: 5, current: 15 },
          { path: 'state.user.motto', previous: null, current: 'go' },
          { path: TOTAL, previous: null, current: -2 },
          { path: 'state.app.open', previous: true, current: false },
        ],
      },
    ]);
    const after = { user: { points: 15, motto: 'go' }, campaign: { total: -2 }, app: { open: false } };
    expect(await stateOf(participant)).toEqual(after);
  });

  it('applies a path that repeats in order, each operation on what the one before left', async () => {
    const { body } = await mutate(participant, [inc(POINTS), inc(POINTS, 2), set(POINTS, 100), dec(POINTS, 0.5)]);
    expect(body.mutations.map(({ previous, current }: any) => [previous, current])).toEqual([
      ...[
        [5, 6],
        [6, 8],
      ],
      ...[
        [8, 100],
        [100, 99.5],
      ],
    ]);
    expect((await stateOf(participant)).user.points).toBe(99.5);
  });

  it('starts inc and dec from the default, else from 0, and stores a value that equals the default', async () => {
    expect((await mutate(participant, [inc(TOTAL, 0)])).body.mutations).toEqual([
      { path: TOTAL, previous: null, current: 0 },
    ]);
    await mutate(participant, [set(POINTS, 5)]);
    await campaign.define(POINTS, 'number', { default: 50 });
    expect(await stateOf(participant)).toMatchObject({ user: { points: 5 }, campaign: { total: 0 } });
  });

  it('adds decimals as people do', async () => {
    for (let time = 0; time < 10; time += 1) await mutate(participant, [inc(TOTAL, 0.1)]);
    expect((await stateOf(participant)).campaign.total).toBe(1);
    await mutate(participant, [set(TOTAL, 10.3), inc(TOTAL, 10.33)]);
    expect((await stateOf(participant)).campaign.total).toBe(20.63);
    const { body } = await mutate(participant, [set(TOTAL, 0.3), dec(TOTAL, 0.1), dec(TOTAL, 0.2)]);
    expect(body.mutations.map(({ current }: any) => current)).toEqual([0.3, 0.2, 0]);
    // As Number would read it again, to the last digit.
    await mutate(participant, [set(TOTAL, 0), inc(TOTAL, 1e-7), inc(TOTAL, 1234567.891)]);
    expect((await stateOf(participant)).campaign.total).toBe(1234567.8910001);
  });

  it('keeps whole numbers up to ±2^53 exactly, and refuses what goes beyond, wholly', async () => {
    const limit = 2 ** 53;
    for (const sign of ['', '-']) {
      const ops = (value: string): string => `{"ops":[{"path":"${TOTAL}","op":"set","value":${sign}${value}}]}`;
      const send = (value: string) => participant.send('/v1/runtime/state:mutate', ops(value));
      expect((await send('9007199254740992')).body.mutations[0].current).toBe(sign === '' ? limit : -limit);
      expectProblem(await send('9007199254740993'), 422, 'validation_failed', ['ops[0].value range']);
    }
    expect((await mutate(participant, [set(TOTAL, limit - 1), inc(TOTAL)])).body.mutations[1].current).toBe(limit);
    const beyond = await mutate(participant, [inc(POINTS), inc(TOTAL), inc(POINTS)]);
    expectProblem(beyond, 422, 'validation_failed', ['ops[1] range']);
    const far = await mutate(participant, [set(TOTAL, -limit), dec(TOTAL, limit)]);
    expectProblem(far, 422, 'validation_failed', ['ops[1] range']);
    expect(await stateOf(participant)).toEqual({ ...UNTOUCHED, campaign: { total: limit } });
  });

  it('takes 100 operations', async () => {
    const { body } = await mutate(
      participant,
      Array.from({ length: 100 }, () => inc(TOTAL)),
    );
    expect(body.mutations).toHaveLength(100);
    expect(body.mutations[99]).toEqual({ path: TOTAL, previous: 99, current: 100 });
  });

  it('names every fault of a body at once', async () => {
    const ops = [
      { path: POINTS, op: 'mul', value: 1 },
      { path: 7, op: 'inc', value: '1' },
      { op: 'set', value: null, note: 'x' },
      'inc',
    ];
    expectProblem(await mutate(participant, ops, { mutation_id: '', user: 'x' }), 422, 'validation_failed', [
      'ops[0].op enum',
      'ops[1].path type',
      'ops[1].value type',
      'ops[2].path required',
      'ops[2].value required',
      'ops[2].note unknown_field',
      'ops[3] type',
      'mutation_id empty',
      'user unknown_field',
    ]);
    expect(await stateOf(participant)).toEqual(UNTOUCHED);
  });

  it('answers 400 with the path and every offending operation for system fields and undeclared variables', async () => {
    const ops = [
      inc(POINTS),
      set('state.sessionId', 's-2'),
      inc('state.user.pionts'),
      set('state.user.version', 1),
      inc('points'),
    ];
    const answer = await mutate(participant, ops, { mutation_id: 'm' });
    expectPathRefusal(answer, 'system_field', 'state.sessionId', [
      'ops[1].path system_field',
      'ops[2].path undeclared_variable',
      'ops[3].path system_field',
      'ops[4].path undeclared_variable',
    ]);
    expectPathRefusal(await mutate(participant, ops.slice(2)), 'undeclared_variable', 'state.user.pionts', [
      'ops[0].path undeclared_variable',
      'ops[1].path system_field',
      'ops[2].path undeclared_variable',
    ]);
    expect(await stateOf(participant)).toEqual(UNTOUCHED);
    const { admin } = campaign.workspace;
    const sub = encodeURIComponent(JSON.parse(atob(participant.key?.split('.')[1] ?? '')).sub);
    const shown = await admin.get(`/v1/campaigns/${campaign.campaignId}/participants/${sub}/state`);
    expect(shown.body.state.system).toEqual({ sessionId: null });
  });

  it('answers 422 for values of another type, with every one of them in details', async () => {
    const ops = [
      set(POINTS, '1'),
      inc('state.user.motto'),
      set(TOTAL, 1),
      set('state.app.open', 1),
      dec('state.app.open'),
    ];
    expectProblem(await mutate(participant, ops), 422, 'validation_failed', [
      'ops[0].value type',
      'ops[1].op type',
      'ops[3].value type',
      'ops[4].op type',
    ]);
    expect(await stateOf(participant)).toEqual(UNTOUCHED);
  });

  it('looks at the token, the shape, the context, a repeated id, the paths, the types and the result, in this order', async () => {
    const shape = { path: POINTS, op: 'mul', value: 1 };
    const path = inc('state.user.pionts');
    const type = set(POINTS, 'x');
    const result = inc(POINTS, 2 ** 53);
    const context = { user_id: 'somebody-else' };
    await mutate(participant, [inc(TOTAL)], { mutation_id: 'used' });
    const nobody = await mutate(campaign.participant({ exp: 1 }), [shape], context);
    expect(summary(nobody)).toBe('401 invalid_token');
    const ways: [readonly unknown[], object, string][] = [
      [[result, type, path, shape], { ...context, mutation_id: 'used' }, '422 validation_failed'],
      [[result, type, path], { ...context, mutation_id: 'used' }, '403 context_violation'],
      [[result, type, path], { mutation_id: 'used' }, '200 duplicate'],
      [[result, type, path], {}, '400 undeclared_variable'],
      [[result, type], {}, '422 validation_failed'],
      [[result], {}, '422 validation_failed'],
    ];
    for (const [ops, fields, answer] of ways) {
      expect(summary(await mutate(participant, ops, fields as Record<string, unknown>))).toBe(answer);
    }
    expect((await mutate(participant, [result, type])).body.details[0].path).toBe('ops[1].value');
    expect((await mutate(participant, [result])).body.details[0].path).toBe('ops[0]');
  });

  it('is wholly or not at all: nothing of a refused mutation is seen, in no scope', async () => {
    const good = [inc(POINTS), set('state.user.motto', 'x'), inc(TOTAL), set('state.app.open', false)];
    const bad = [inc('state.user.pionts'), set(POINTS, true), inc(POINTS, 2 ** 53), set('', 1)];
    for (const one of bad) {
      for (const place of [0, 2, 4]) {
        const { status } = await mutate(participant, good.toSpliced(place, 0, one));
        expect([400, 422]).toContain(status);
      }
    }
    expect(await stateOf(participant)).toEqual(UNTOUCHED);
  });

  it('leaves no trace of a participant without an applied mutation', async () => {
    const known = (): Promise<unknown[]> =>
      rowsOf(service.databaseUrl, 'SELECT subject FROM participant_states WHERE tenant_id = $1 ORDER BY subject', [
        campaign.workspace.tenantId,
      ]);
    const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((sub) => campaign.participant({ sub })) as [
      Client,
      Client,
      Client,
    ];
    const wrong = [inc('state.user.misspelled')];
    // Many at once share a commit.
    const answers = await Promise.all([
      ...[ann, ann, bob, eve, eve].map((client) => mutate(client, wrong)),
      mutate(bob, [inc(POINTS)]),
      mutate(eve, [inc(TOTAL)]),
      mutate(eve, wrong),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 200, 200, 400]);
    // Eve changed a value of the campaign only, and is a participant, too.
    expect(await known()).toEqual([{ subject: 'bob' }, { subject: 'eve' }]);
    const id = { mutation_id: 'm-1' };
    expect((await mutate(ann, wrong, id)).status).toBe(400);
    expect((await mutate(ann, [inc(POINTS)], id)).body.status).toBe('applied');
    expect((await mutate(ann, [inc(POINTS)], id)).body.status).toBe('duplicate');
    expect(await known()).toHaveLength(3);
  });

  it('knows a variable as soon as it is defined, and no longer when it is archived', async () => {
    for (let round = 0; round < 5; round += 1) {
      const path = `state.user.round${round}`;
      expect(summary(await mutate(participant, [inc(path)]))).toBe('400 undeclared_variable');
      await campaign.define(path, 'number');
      expect(summary(await mutate(participant, [inc(path)]))).toBe('200 applied');
      await campaign.archive(path);
      expect(summary(await mutate(participant, [inc(path)]))).toBe('400 undeclared_variable');
    }
  });

  it('puts only a few participants with much text into one transaction, which writes all of it again', async () => {
    const notes = Array.from({ length: 40 }, (_unused, index) => `state.user.note${index}`);
    for (const note of notes) await campaign.define(note, 'string');
    const people = Array.from({ length: 12 }, (_unused, index) => campaign.participant({ sub: `p-${index}` }));
    for (const person of people) {
      const ops = notes.map((note) => set(note, 'x'.repeat(4 * 1024)));
      expect(summary(await mutate(person, ops))).toBe('200 applied');
      expect(summary(await mutate(person, [inc(POINTS)]))).toBe('200 applied');
    }
    const answers = await Promise.all(people.map((person) => mutate(person, [inc(POINTS)])));
    expect(answers.map(summary)).toEqual(people.map(() => '200 applied'));
    const together = await rowsOf<{ count: number }>(
      service.databaseUrl,
      `SELECT count(*)::int AS count FROM participant_states WHERE tenant_id = $1 GROUP BY updated_at`,
      [campaign.workspace.tenantId],
    );
    expect(Math.max(...together.map(({ count }) => count))).toBeLessThanOrEqual(3);
  });

  it('takes the body of the authentication reference: campaignId, ops and mutationId', async () => {
    const anywhere = campaign.issuer.participant();
    const body = { campaignId: campaign.campaignId, ops: [inc(POINTS, 10)], mutationId: 'reference-1' };
    for (const status of ['applied', 'duplicate']) {
      expect((await anywhere.post('/v1/runtime/state:mutate', body)).body).toEqual({
        status,
        mutations: [{ path: POINTS, previous: 5, current: 15 }],
      });
    }
  });
});
