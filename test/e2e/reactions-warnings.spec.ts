import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { type Answer, type Client, expectProblem } from '../support/client';
import { aCampaign, stateOf, type Campaign } from '../support/runtime';
import { until } from '../support/until';

let service: TestApp;
let campaign: Campaign;
let admin: Client;

beforeAll(async () => {
  service = await startApp({}, undefined, [], { processesEvents: true });
});

afterAll(() => service.stop());

beforeEach(async () => {
  campaign = await aCampaign(service);
  ({ admin } = campaign.workspace);
  await campaign.define('state.user.points', 'number');
  await campaign.define('state.campaign.revenue', 'number');
});

const COUNT = { path: 'state.user.points', op: 'inc', value: 1 };
const copying = (valueFrom: string): object => ({ path: 'state.campaign.revenue', op: 'inc', valueFrom });

function define(fields: object = {}): Promise<Answer> {
  return admin.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, {
    name: 'reward',
    eventType: 'order.paid',
    ops: [COUNT],
    ...fields,
  });
}

/** The record of an event of this type, once it has left the queue. */
async function processed(eventType: string, attributes: object): Promise<any> {
  const identity = { type: 'EXTERNAL', value: 'ann' };
  const { body } = await admin.post('/v1/external-events', anExternalEvent({ type: eventType, identity, attributes }));
  let record: any;
  await until(async () => {
    record = (await admin.get(`/v1/events/${body.event_id}`)).body;
    return record.processing.state !== 'queued';
  });
  return record.processing;
}

async function register(definition: object): Promise<void> {
  const answer = await admin.post('/v1/cdp/event-types', definition);
  expect(answer.status).toBe(201);
}

const placesOf = ({ status, body }: Answer): string[] => {
  expect([status, body.status]).toEqual([200, 'defined']);
  return body.warnings.map(({ path, code }: any) => `${path} ${code}`);
};

describe('a reaction that can never fire', () => {
  it('is defined with a warning where no such type is registered and no event of it was received', async () => {
    await register({ eventType: 'order.payed', properties: { amount: { type: 'number' } } });
    const answer = await define();
    expect(placesOf(answer)).toEqual(['eventType unknown_event_type']);
    expect(answer.body.warnings[0].message).toMatch(/Did you mean order\.payed\?$/);
    // Defined all the same, and warned about as long as it is so.
    expect((await define()).body).toEqual(answer.body);
    await processed('order.paid', {});
    expect(placesOf(await define())).toEqual([]);
  });

  it('is warned about by what is registered at the moment, in the order of its body', async () => {
    await register({ eventType: 'order.paid', properties: { amount: { type: 'number' } } });
    const fields = {
      when: { or: [{ '>': [{ var: 'amount' }, 20] }, { '>': [{ var: 'event.properties.amuont' }, 20] }] },
      ops: [COUNT, copying('properties.amuont'), copying('event.properties.amount')],
    };
    const answer = await define(fields);
    expect(placesOf(answer)).toEqual([
      ...['when.or[0][">"][0].var unknown_path', 'when.or[1][">"][0].var unknown_property'],
      'ops[1].valueFrom unknown_property',
    ]);
    expect(answer.body.warnings[0].message).toMatch(/Did you mean event\.properties\.amount\?$/);
    expect(answer.body.reaction).toMatchObject(fields);
    await register({ eventType: 'order.paid', properties: { amount: { type: 'number' }, amuont: { type: 'number' } } });
    expect(placesOf(await define(fields))).toEqual(['when.or[0][">"][0].var unknown_path']);
  });

  it('of another workspace knows nothing of this one', async () => {
    const other = await aCampaign(service);
    await register({ eventType: 'order.paid', properties: {} });
    await other.define('state.user.points', 'number');
    const body = { name: 'reward', eventType: 'order.paid', ops: [COUNT] };
    const path = `/v1/campaigns/${other.campaignId}/reactions:define`;
    const answer = await other.workspace.admin.post(path, body);
    expect(placesOf(answer)).toEqual(['eventType unknown_event_type']);
    expect(answer.body.warnings[0].message).not.toContain('Did you mean');
  });

  it('says where a value was probably meant to come from, where the path is none at all', async () => {
    const refused = await define({ ops: [copying('attributes.amount')] });
    expectProblem(refused, 422, 'validation_failed', ['ops[0].valueFrom format']);
    expect(refused.body.message).toMatch(/Did you mean properties\.amount\?$/);
  });
});

describe('both spellings of a path', () => {
  it('mean the same in a condition and in a value', async () => {
    const short = { '>=': [{ var: 'properties.amount' }, 20] };
    const long = { '>=': [{ var: 'event.properties.amount' }, 20] };
    for (const [name, when, valueFrom] of [
      ['short', short, 'event.properties.amount'],
      ['long', long, 'properties.amount'],
    ] as const) {
      expect((await define({ name, when, ops: [copying(valueFrom)] })).status).toBe(200);
    }
    expect((await processed('order.paid', { amount: 30 })).reactions).toMatchObject([
      { name: 'short', outcome: 'applied' },
      { name: 'long', outcome: 'applied' },
    ]);
    expect((await processed('order.paid', { amount: 10 })).reactions).toMatchObject([
      { name: 'short', outcome: 'skipped' },
      { name: 'long', outcome: 'skipped' },
    ]);
    expect((await stateOf(campaign.participant({ sub: 'ann' }))).campaign.revenue).toBe(60);
  });

  it('mean an own field of the entry where a list is gone through', async () => {
    const inEntry = { some: [{ var: 'properties.items' }, { '==': [{ var: 'properties.amount' }, 1] }] };
    expect((await define({ when: inEntry })).status).toBe(200);
    const outside = { amount: 1, items: [{ amount: 1 }] };
    expect((await processed('order.paid', outside)).reactions).toMatchObject([{ outcome: 'skipped' }]);
    const inside = { items: [{ properties: { amount: 1 } }] };
    expect((await processed('order.paid', inside)).reactions).toMatchObject([{ outcome: 'applied' }]);
  });
});
