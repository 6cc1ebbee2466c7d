import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, registerTypes } from '../support/builders';
import { type Answer, type Client, expectProblem, reviewEntries } from '../support/client';
import { rowsOf } from '../support/database';
import { aCampaign, stateOf, type Campaign } from '../support/runtime';
import { placesOf } from '../support/traces';
import { until } from '../support/until';

let service: TestApp;
let campaign: Campaign;
let admin: Client;
/** May define reactions, and not read personal data. */
let editor: Client;

beforeAll(async () => {
  service = await startApp({}, undefined, [], { processesEvents: true });
});

afterAll(() => service.stop());

beforeEach(async () => {
  campaign = await aCampaign(service);
  ({ admin } = campaign.workspace);
  editor = await campaign.workspace.client({ scopes: ['reactions:write', 'reactions:read'] });
  await registerTypes(admin);
  for (const scope of ['user', 'campaign', 'app']) {
    await campaign.define(`state.${scope}.note`, 'string');
    await campaign.define(`state.${scope}.points`, 'number');
  }
});

const copyOf = (valueFrom: string, scope = 'user') => ({ path: `state.${scope}.note`, op: 'set', valueFrom });
const COUNT = { path: 'state.campaign.points', op: 'inc', value: 1 };
const reading = (path: string): object => ({ '!': [{ var: path }] });

function define(by: Client, fields: object = {}): Promise<Answer> {
  return by.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, {
    name: 'copy',
    eventType: 'purchase',
    ops: [COUNT],
    ...fields,
  });
}

/** What an event came to, once it has left the queue. */
async function processed(properties: object, identity: object = { externalUserId: 'ann' }): Promise<any> {
  const sent = await admin.post('/v1/cdp/events', aCdpEvent({ identity, properties: { amount: 1, ...properties } }));
  expect([sent.status, sent.body]).toMatchObject([202, { status: 'accepted' }]);
  let processing: any;
  await until(async () => {
    ({ processing } = (await admin.get(`/v1/events/${sent.body.eventId ?? sent.body.event_id}`)).body);
    return processing.state !== 'queued';
  });
  return processing;
}

function expectForbidden(answer: Answer, places: readonly string[]): void {
  expectProblem(
    answer,
    403,
    'insufficient_scope',
    places.map((place) => `${place} personal_data`),
  );
  expect(answer.body.message).toContain('pii:read');
  expect(answer.headers.get('www-authenticate')).toContain('scope="pii:read"');
}

describe('a reaction that reads personal data', () => {
  it('is added up by a dry backfill for those who may read personal data, and for nobody else', async () => {
    const points = { path: 'state.user.points', op: 'inc', valueFrom: 'properties.nickname' };
    expect((await define(admin, { ops: [points] })).status).toBe(200);
    const path = `/v1/campaigns/${campaign.campaignId}/reactions/copy:backfill`;
    const range = { from: '2026-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' };
    expectForbidden(await editor.post(path, { ...range, dryRun: true }), ['ops[0].valueFrom']);
    const done = await admin.post(path, { ...range, dryRun: true });
    expect(done.status).toBe(202);
    await until(async () => {
      const found = await admin.get(`${path.replace(':backfill', '/backfills')}/${done.body.jobId}`);
      return found.body.state === 'done';
    });
    const shown = `${path.replace(':backfill', '/backfills')}/${done.body.jobId}`;
    expect((await admin.get(shown)).body).toHaveProperty('sums');
    expect((await editor.get(shown)).body).not.toHaveProperty('sums');
    expect((await define(admin, { ops: [COUNT] })).status).toBe(200);
    expect((await editor.get(shown)).body).not.toHaveProperty('sums');
    const counted = await editor.post(path, { ...range, dryRun: true });
    expect(counted.status).toBe(202);
    const own = `${path.replace(':backfill', '/backfills')}/${counted.body.jobId}`;
    expect((await editor.get(own)).body).toHaveProperty('sums');
  });

  it.each<[string, string]>([
    ['identity', 'identity.email'],
    ['identity of the other family', 'identity.value'],
    ['a property that is declared pii', 'properties.nickname'],
    ['what is below a property that is declared pii', 'properties.nickname.first'],
    ['a property of that name in depth', 'properties.child.nickname'],
    ['a property that is called like contact data', 'properties.workPhone'],
    ['what is below such a one', 'properties.contact.city'],
    ['identity in the properties', 'properties.identity.value'],
    ['identity below the name of the record', 'event.identity.email'],
    ['a property that is declared pii, below that name', 'event.properties.nickname'],
  ])('as a value, %s, takes pii:read, and is for user values only', async (_what, valueFrom) => {
    expectForbidden(await define(editor, { ops: [COUNT, copyOf(valueFrom)] }), ['ops[1].valueFrom']);
    expectForbidden(await define(editor, { ops: [copyOf(valueFrom, 'campaign')] }), ['ops[0].valueFrom']);
    expect((await define(admin, { ops: [COUNT, copyOf(valueFrom)] })).status).toBe(200);
    for (const scope of ['campaign', 'app']) {
      const refused = await define(admin, { ops: [copyOf(valueFrom), copyOf(valueFrom, scope)] });
      expectProblem(refused, 422, 'validation_failed', ['ops[1].valueFrom personal_data']);
      expect(refused.body.message).toContain('state.user.');
    }
  });

  it.each<[string, object, string[]]>([
    ['identity', reading('event.identity.email'), ['when["!"][0].var']],
    ['identity as a whole', reading('event.identity'), ['when["!"][0].var']],
    ['the event as a whole', reading('event'), ['when["!"][0].var']],
    ['everything', reading(''), ['when["!"][0].var']],
    ['everything, with nothing written', { '!': [{ var: [] }] }, ['when["!"][0].var']],
    ['all properties', reading('event.properties'), ['when["!"][0].var']],
    ['a property that is declared pii', reading('event.properties.nickname'), ['when["!"][0].var']],
    ['all properties, without the name of the record', reading('properties'), ['when["!"][0].var']],
    ['identity, without it', reading('identity'), ['when["!"][0].var']],
    ['a field of identity, without it', reading('identity.email'), ['when["!"][0].var']],
    ['a property that is declared pii, without it', reading('properties.nickname'), ['when["!"][0].var']],
    ['a property that is called like contact data, without it', reading('properties.email'), ['when["!"][0].var']],
    ['a property that is called like contact data', reading('event.properties.e_mail'), ['when["!"][0].var']],
    [
      'an entry of a list, and what is gone through',
      { and: [{ some: [{ var: 'event.properties.items' }, reading('nickname')] }, { map: [{ var: '' }, 1] }] },
      ['when.and[0].some[1]["!"][0].var', 'when.and[1].map[0].var'],
    ],
    [
      'a list by reduction',
      { reduce: [{ var: 'event.properties.items' }, { '+': [{ var: 'current.phone' }, { var: 'accumulator' }] }, 0] },
      ['when.reduce[1]["+"][0].var'],
    ],
    ['whether there is one', { missing: ['event.source', 'event.identity.email'] }, ['when.missing[1]']],
    ['whether there are some', { missing_some: [1, ['event.properties.nickname']] }, ['when.missing_some[1][0]']],
    ['a path that is worked out', { missing: [{ cat: ['event.iden', 'tity.email'] }] }, ['when.missing[0]']],
  ])('in its condition, %s, takes pii:read, and may change anything', async (_what, when, places) => {
    expectForbidden(await define(editor, { when }), places);
    expect((await define(admin, { when })).status).toBe(200);
    const reader = await campaign.workspace.client({ scopes: ['reactions:write', 'pii:read'] });
    expect((await define(reader, { name: 'other', when })).status).toBe(200);
  });

  it.each<[string, object]>([
    ['the profile, which is known by a pseudonym', { ops: [copyOf('profileId', 'campaign')] }],
    ['a property that is not declared pii', { ops: [copyOf('properties.currency', 'app')] }],
    ['entries of a list', { when: { all: [{ var: 'event.properties.tags' }, { in: [{ var: '' }, ['a', 'b']] }] } }],
    ['the same property of another type', { eventType: 'anything', ops: [copyOf('properties.nickname', 'campaign')] }],
    ['whether a property is missing', { when: { missing: ['event.properties.amount'] } }],
  ])('is not one that reads %s', async (_what, fields) => {
    expect((await define(editor, fields)).status).toBe(200);
  });

  it('is asked for it with every definition, also where it says what is so already, or switches it', async () => {
    const fields = { ops: [copyOf('identity.email')] };
    expect((await define(admin, fields)).status).toBe(200);
    expectForbidden(await define(editor, fields), ['ops[0].valueFrom']);
    expectForbidden(await define(editor, { ...fields, enabled: false }), ['ops[0].valueFrom']);
    const { body } = await admin.get(`/v1/campaigns/${campaign.campaignId}/reactions/copy`);
    expect(body).toMatchObject({ enabled: true, ops: fields.ops });
    expect((await define(editor)).status).toBe(200);
  });

  it('is known by any version of the event type, on every node, and told without a value', async () => {
    const type = { eventType: 'visit', properties: { alias: { type: 'string', pii: true } } };
    await registerTypes(admin, [type]);
    const plain = { ...type, properties: { alias: { type: 'string' } }, force: true };
    expect((await admin.post('/v1/cdp/event-types', plain)).status).toBe(201);
    const refused = await define(editor, { eventType: 'visit', ops: [copyOf('properties.alias')] });
    expectForbidden(refused, ['ops[0].valueFrom']);
    expect(JSON.stringify(refused.body)).not.toContain('alias');
  });
});

describe('a property that becomes personal', () => {
  const registered = (pii: boolean) =>
    admin.post('/v1/cdp/event-types', {
      eventType: 'purchase',
      additionalProperties: 'reject',
      force: true,
      properties: { amount: { type: 'number' }, alias: { type: 'string', pii } },
    });

  it('is copied to shared values no longer; what does so fails, says why, and the others are applied', async () => {
    expect((await registered(false)).status).toBe(201);
    expect((await define(editor, { ops: [copyOf('properties.alias', 'campaign')] })).status).toBe(200);
    expect((await define(editor, { name: 'own', ops: [copyOf('properties.alias')] })).status).toBe(200);
    expect(await processed({ alias: 'before' })).toMatchObject({ state: 'processed' });
    expect((await registered(true)).status).toBe(201);
    const { campaignId } = campaign;
    expect(await processed({ alias: 'secret-alias' })).toEqual(
      expect.objectContaining({
        state: 'failed',
        attempts: 1,
        reactions: [
          { campaignId, name: 'copy', outcome: 'failed', reason: 'personal_data' },
          { campaignId, name: 'own', outcome: 'applied' },
        ],
      }),
    );
    const state = await stateOf(campaign.participant({ sub: 'ann' }));
    expect(state).toMatchObject({ campaign: { note: 'before' }, user: { note: 'secret-alias' } });
    const [entry] = await reviewEntries(admin, '&reason=personal_data');
    expect(entry).toMatchObject({
      stage: 'processing',
      status: 'open',
      message: expect.stringContaining('state.user.'),
    });
    // Once corrected, it is applied by a replay.
    expect((await define(admin, { ops: [copyOf('properties.alias')] })).status).toBe(200);
    expect((await admin.post(`/v1/review-entries/${entry!.id}:replay`, {})).status).toBe(200);
  });

  it('cannot be copied by what was defined before there was a rule, either', async () => {
    expect((await define(editor, { ops: [copyOf('properties.currency', 'app')] })).status).toBe(200);
    await rowsOf(
      service.databaseUrl,
      `UPDATE reactions SET operations = replace(operations::text, 'properties.currency', 'identity.externalUserId')::json
       WHERE tenant_id = $1`,
      [campaign.workspace.tenantId],
    );
    expect(await processed({})).toMatchObject({ state: 'failed', reactions: [{ reason: 'personal_data' }] });
    expect((await stateOf(campaign.participant({ sub: 'ann' }))).app.note).toBeNull();
  });
});

it('leaves nothing of a person in the values of a campaign once they are erased', async () => {
  const [subject, nickname] = [`subject-${randomUUID()}`, `nick-${randomUUID()}`];
  const ops = [copyOf('properties.nickname'), COUNT];
  const when = { '!!': [{ var: 'event.identity.externalUserId' }] };
  expect((await define(admin, { ops, when })).status).toBe(200);
  expect((await define(admin, { name: 'shared', ops: [copyOf('properties.nickname', 'campaign')] })).status).toBe(422);
  expect(await processed({ nickname }, { externalUserId: subject })).toMatchObject({ state: 'processed' });
  expect(await stateOf(campaign.participant({ sub: subject }))).toMatchObject({
    user: { note: nickname },
    campaign: { points: 1, note: null },
  });
  const profile = await admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: subject });
  expect((await placesOf(service.databaseUrl, [nickname])).length).toBeGreaterThan(0);
  expect((await admin.send(`/v1/cdp/profiles/${profile.body.id}:erase`, undefined)).status).toBe(200);
  expect(await placesOf(service.databaseUrl, [nickname, subject])).toEqual([]);
  expect((await stateOf(campaign.participant({ sub: 'somebody' }))).campaign).toMatchObject({ points: 1, note: null });
});
