import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, expectProblem, reviewEntries, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { aFullPerson, anEchoingWebhook, CAMPAIGN, type FullPerson, workspacesForPersons } from '../support/persons';
import { placesOf } from '../support/traces';
import { until } from '../support/until';
import { startReceiver, type Receiver } from '../support/webhooks';

const LIFT = '/v1/cdp/erasures:lift';

/** With each case of a test. */
const TESTS = 21;

let service: TestApp;
let nextWorkspace: () => Workspace;
let workspace: Workspace;
let admin: Client;
let receiver: Receiver;

beforeAll(async () => {
  const environment = { DEFAULT_PHONE_REGION: 'DE', WEBHOOKS_ALLOW_PRIVATE: 'true' };
  [service, receiver] = await Promise.all([
    startApp(environment, undefined, [], { processesEvents: true }),
    startReceiver(),
  ]);
  nextWorkspace = await workspacesForPersons(service, TESTS);
});

beforeEach(() => {
  workspace = nextWorkspace();
  ({ admin } = workspace);
});

afterAll(() => Promise.all([service.stop(), receiver.stop()]));

const erase = (client: Client, id: string) => client.send(`/v1/cdp/profiles/${id}:erase`, undefined);
const identitiesOf = ({ subject, email, phone, device }: FullPerson) => [
  { externalUserId: subject },
  { email },
  { email: ` ${email.toUpperCase()}` },
  { phone },
  { deviceKey: device },
  { externalUserId: `somebody-${randomUUID()}`, deviceKey: device },
];

async function anErasedPerson(): Promise<FullPerson> {
  const person = await aFullPerson(admin);
  expect((await erase(admin, person.profileId)).status).toBe(200);
  return person;
}

describe('POST /v1/cdp/profiles/{id}:erase', () => {
  it('leaves nothing of the person in any table, and everything of everybody else', async () => {
    const webhook = await anEchoingWebhook(admin, receiver);
    const [person, other] = [await aFullPerson(admin, webhook), await aFullPerson(admin, webhook)];
    const before = await placesOf(service.databaseUrl, person.marks);
    const tables = new Set(before.map((place) => place.split(':')[0]?.replace(/_\d.*/, '')));
    // Or this test would look in the wrong places.
    expect([...tables].sort()).toEqual([
      'public.events',
      'public.mutation_outcomes',
      'public.participant_states',
      'public.profile_identifiers',
      'public.profiles',
      'public.review_entries',
      'public.unlinked_identifiers',
      'public.value_changes',
      'public.webhook_changes',
      'public.webhook_deliveries',
    ]);
    const others = await placesOf(service.databaseUrl, other.marks);
    const { status, body } = await erase(admin, person.profileId);
    expect([status, body]).toEqual([200, { profileId: person.profileId, erasedAt: expect.any(String) }]);
    expect(await placesOf(service.databaseUrl, person.marks)).toEqual([]);
    expect(await placesOf(service.databaseUrl, other.marks)).toEqual(others);
    // That there were calls stays known, and nothing that was answered.
    const deliveries = (await admin.get(`/v1/webhooks/${webhook}/deliveries?limit=200`)).body.items;
    const theirs = deliveries.filter(({ id }: { id: string }) => person.eventIds.includes(id));
    expect(theirs.map(({ attempts }: any) => attempts.map(({ status, answer }: any) => [status, answer]))).toEqual(
      person.eventIds.map(() => [[200, '']]),
    );
  });

  it('leaves nothing of a call to a webhook that is under way meanwhile, and sends no further one', async () => {
    const webhook = await anEchoingWebhook(admin, receiver);
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    receiver.answer(async ({ text }) => {
      await held;
      return { status: 500, body: text };
    });
    const subject = `subject-${randomUUID()}`;
    const calls = receiver.calls.length;
    const ofThem = () => anExternalEvent({ identity: { type: 'EXTERNAL', value: subject } });
    const [first, second] = [
      await admin.post('/v1/external-events', ofThem()),
      await admin.post('/v1/external-events', ofThem()),
    ];
    const { profileId } = (await admin.get(`/v1/events/${first.body.event_id}`)).body;
    const deliveriesOf = async (): Promise<any[]> =>
      (await admin.get(`/v1/webhooks/${webhook}/deliveries`)).body.items.toReversed();
    await receiver.until(calls + 1);
    await until(async () => (await deliveriesOf()).length === 2);
    const erasing = erase(admin, profileId);
    const marked = 'SELECT FROM profiles WHERE profile_id = $1 AND erased_at IS NOT NULL';
    await until(async () => (await rowsOf(service.databaseUrl, marked, [profileId])).length === 1);
    answer();
    expect((await erasing).status).toBe(200);
    await until(async () => (await deliveriesOf())[0].attemptCount === 1);
    expect((await deliveriesOf())[0].attempts).toMatchObject([{ status: 500, answer: '' }]);
    await admin.post(`/v1/webhooks/${webhook}/deliveries/${first.body.event_id}:retry`, {});
    await until(async () => (await deliveriesOf()).every(({ state }) => state === 'failed'));
    const failed = (await deliveriesOf()).map(({ id, reason, attemptCount }) => [id, reason, attemptCount]);
    expect(failed).toEqual([
      [first.body.event_id, 'profile_erased', 1],
      [second.body.event_id, 'profile_erased', 0],
    ]);
    expect(receiver.calls).toHaveLength(calls + 1);
    expect(await placesOf(service.databaseUrl, [subject])).toEqual([]);
  });

  it('takes what operators noted about the person along, and leaves what they noted otherwise', async () => {
    const person = await aFullPerson(admin);
    for (const note of [`asked ${person.email} about it`, 'a test of the agency']) {
      await admin.post('/v1/external-events', anExternalEvent({ identity: {} }));
      const [{ id }] = await reviewEntries(admin, '&status=open');
      await admin.post(`/v1/review-entries/${id}:dismiss`, { note });
    }
    await erase(admin, person.profileId);
    const dismissed = await reviewEntries(admin, '&status=dismissed');
    expect(dismissed.map(({ resolution }) => resolution.note)).toEqual(['a test of the agency', undefined]);
    expect(await placesOf(service.databaseUrl, [person.email])).toEqual([]);
  });

  it('takes the notes of bulk dismissals about the person along', async () => {
    const person = await aFullPerson(admin);
    for (const note of [`asked ${person.email} about it`, 'a test of the agency']) {
      await admin.post('/v1/external-events', anExternalEvent({ identity: {} }));
      const filter = { reason: 'required' };
      const { jobId } = (await admin.post('/v1/review-entries:dismiss', { filter, note })).body;
      await until(async () => (await admin.get(`/v1/review-dismissals/${jobId}`)).body.state === 'done');
    }
    await erase(admin, person.profileId);
    expect(await placesOf(service.databaseUrl, [person.email])).toEqual([]);
    const notes = 'SELECT note FROM review_dismissals WHERE tenant_id = $1 ORDER BY id';
    const kept = [{ note: null }, { note: 'a test of the agency' }];
    expect(await rowsOf(service.databaseUrl, notes, [workspace.tenantId])).toEqual(kept);
  });

  it('makes the customer not found by any id or identifier, and what was theirs empty', async () => {
    const person = await aFullPerson(admin);
    const merges = (await admin.get(`/v1/cdp/profiles/${person.profileId}/merges`)).body.items;
    await erase(admin, person.profileId);
    for (const id of [person.profileId, merges[0].fromProfileId]) {
      for (const view of ['', '/events', '/merges']) {
        expectProblem(await admin.get(`/v1/cdp/profiles/${id}${view}`), 404, 'not_found', []);
      }
      expectProblem(await admin.send(`/v1/cdp/profiles/${id}:export`, undefined), 404, 'not_found', []);
    }
    for (const [type, value] of [
      ['EXTERNAL', person.subject],
      ['EMAIL', person.email],
      ['PHONE', person.phone],
      ['DEVICE', person.device],
    ]) {
      expectProblem(await admin.post('/v1/cdp/profiles:lookup', { type, value }), 404, 'not_found', []);
    }
    expectProblem(await admin.send(`/v1/cdp/merges/${merges[0].id}:undo`, undefined), 404, 'not_found', []);
    const state = await admin.get(`/v1/campaigns/${CAMPAIGN}/participants/${person.subject}/state`);
    expect(state.body.state).toMatchObject({ user: { motto: null }, system: { sessionId: null } });
    for (const eventId of person.eventIds) {
      const { body } = await admin.get(`/v1/events/${eventId}?unmask=true`);
      expect(body).toMatchObject({ eventId, source: 'shop.orders', identity: {}, properties: {} });
    }
  });

  it('lets the participant begin anew, also with a mutation id of before', async () => {
    const person = await aFullPerson(admin);
    const ops = [{ path: 'state.user.motto', op: 'set', value: 'a motto of now' }];
    const mutate = (id: string) => person.participant.post('/v1/runtime/state:mutate', { ops, mutation_id: id });
    expect((await mutate('again')).body.status).toBe('applied');
    await erase(admin, person.profileId);
    const { status, body } = await mutate('again');
    expect([status, body.status, body.mutations[0].previous]).toEqual([200, 'applied', null]);
  });

  it('changes nothing when it is done again, by any id of the customer, also by several at once', async () => {
    const person = await aFullPerson(admin);
    const merged = (await admin.get(`/v1/cdp/profiles/${person.profileId}`)).body.mergedFrom[0];
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_unused, place) => erase(admin, place % 2 === 0 ? person.profileId : merged)),
    );
    answers.push(await erase(admin, person.profileId));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await placesOf(service.databaseUrl, person.marks)).toEqual([]);
  });

  it('takes profiles:write, and finds nobody of another workspace', async () => {
    const person = await aFullPerson(admin);
    const reader = await workspace.client({ scopes: ['profiles:read', 'pii:read'] });
    expectProblem(await erase(reader, person.profileId), 403, 'insufficient_scope');
    const stranger = (await aWorkspace(service)).admin;
    for (const id of [person.profileId, randomUUID(), 'x']) {
      expectProblem(await erase(stranger, id), 404, 'not_found', []);
    }
    expect((await admin.get(`/v1/cdp/profiles/${person.profileId}`)).status).toBe(200);
    const writer = await workspace.client({ scopes: ['profiles:write'] });
    expect((await erase(writer, person.profileId)).status).toBe(200);
  });

  it('is refused by a service that has no key to recognise further events by', async () => {
    const keyless = await startApp({ SECRETS_KEY: '' });
    try {
      const person = await aFullPerson(admin);
      const answer = await erase(new (admin.constructor as any)(keyless.url, admin.key), person.profileId);
      expectProblem(answer, 422, 'validation_failed', [' secrets_key_missing']);
      expect((await admin.get(`/v1/cdp/profiles/${person.profileId}`)).status).toBe(200);
    } finally {
      await keyless.stop();
    }
  });
});

describe('traces of a person in what was refused', () => {
  const digits = (count: number) => String(Math.floor(Math.random() * 10 ** count)).padStart(count, '7');
  const subject = () => `9${digits(7)}`;
  const inUnicode = (text: string) =>
    text.replace(/./g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

  async function aPersonNamedBy(number: string, email: string, phone: string): Promise<string> {
    const identity = { externalUserId: number, email, phone };
    const { body } = await admin.post('/v1/cdp/events', aCdpEvent({ identity }));
    return (await admin.get(`/v1/events/${body.event_id}`)).body.profileId;
  }

  it('are found as numbers without quotes, as escapes, and in bodies that are no JSON; what is others’ stays', async () => {
    const [number, email, phone] = [subject(), `jane-${randomUUID()}@example.com`, `+49176${digits(7)}`];
    const profileId = await aPersonNamedBy(number, email, phone);
    const marked = (mark: string, identity: string) =>
      `{"source":"shop","external_event_id":"${mark}","type":"","identity":${identity},"attributes":{"mark":"${mark}"}}`;
    const theirs = [
      ['/v1/external-events', marked('number', `{"type":"EXTERNAL","value":${number}}`)],
      ['/v1/external-events', marked('phone', `{"type":"PHONE","value":${phone.slice(1)}}`)],
      ['/v1/external-events', marked('exponent', `{"type":"EXTERNAL","value":${number}e0}`)],
      ['/v1/external-events', marked('escaped', `{"type":"","value":"${inUnicode(email)}"}`)],
      ['/v1/external-events', `{"mark":"broken","value":"${inUnicode(email)}"`],
      ['/v1/external-events', `{"mark":"bare","userId":${number}`],
      ['/v1/external-events:batch', `{"items":[${marked('item', `{"value":${number}}`)}],"x":1}`],
    ] as const;
    const others = [
      ['/v1/external-events', marked('amount', `{"value":${number}1}`)],
      ['/v1/external-events', `{"mark":"other","userId":1${number}`],
    ] as const;
    for (const [path, body] of [...theirs, ...others]) {
      expect((await admin.send(path, body)).status).toBeGreaterThanOrEqual(400);
    }
    const exported = await admin.send(`/v1/cdp/profiles/${profileId}:export`, undefined);
    const lines: any[] = (exported.body as string)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const entries = lines.filter(({ record }) => record === 'review_entry');
    expect(entries).toHaveLength(theirs.length);
    const marks = entries.flatMap(({ data }) => data.payload?.attributes.mark ?? []);
    expect(marks.sort()).toEqual(['escaped', 'exponent', 'number', 'phone']);

    expect((await erase(admin, profileId)).status).toBe(200);
    const left = await reviewEntries(admin, '&unmask=true');
    expect(left).toHaveLength(theirs.length + others.length);
    expect(left.filter(({ payloadState }) => payloadState === 'removed')).toHaveLength(theirs.length);
    expect(left.filter(({ payloadState }) => payloadState === 'whole')).toHaveLength(others.length);
  });

  it('leave no name of a field behind that is an identifier', async () => {
    const [number, email] = [`cust-${randomUUID().slice(0, 8)}`, `jane-${randomUUID()}@example.com`];
    const profileId = await aPersonNamedBy(number, email, `+49176${digits(7)}`);
    await admin.post('/v1/external-events', anExternalEvent({ [number]: 1 }));
    expect(await placesOf(service.databaseUrl, [number])).not.toEqual([]);
    await erase(admin, profileId);
    expect(await placesOf(service.databaseUrl, [number])).toEqual([]);
    const [entry] = await reviewEntries(admin);
    expect(entry).toMatchObject({ reason: 'unknown_field', payloadState: 'removed', details: [] });
  });

  it('leave no such name behind either where the payload has gone before', async () => {
    const number = `cust-${randomUUID().slice(0, 8)}`;
    const profileId = await aPersonNamedBy(number, `jane-${randomUUID()}@example.com`, `+49176${digits(7)}`);
    const plain = number.replace('-', '_');
    await admin.post('/v1/cdp/events', aCdpEvent({ identity: { externalUserId: number, deviceKey: plain } }));
    await admin.post('/v1/external-events:batch', { items: [anExternalEvent({ [number]: 1 })] });
    await admin.post('/v1/external-events:batch', { items: [anExternalEvent({ [plain]: 1 })] });
    await admin.post('/v1/external-events', anExternalEvent({ [`${number}0`]: 1 }));
    // As after REVIEW_PAYLOAD_DAYS, beyond the limit of a day, or when somebody else is erased whom it names.
    await rowsOf(service.databaseUrl, 'UPDATE review_entries SET payload = NULL WHERE tenant_id = $1', [
      workspace.tenantId,
    ]);
    await erase(admin, profileId);
    const entries = await reviewEntries(admin);
    const paths = entries.map(({ details }) => details.map(({ path }: { path: string }) => path));
    expect(paths.sort()).toEqual([[], [], [`["${number}0"]`]]);
    const messages = entries.map(({ message }) => message).filter((message) => message.includes(number));
    expect(messages).toEqual([expect.stringContaining(`${number}0`)]);
    expect(await placesOf(service.databaseUrl, [plain])).toEqual([]);
  });
});

describe('events of an erased person', () => {
  it('are 409 by each identifier, in either family and in a batch, first and again, and in a dry run', async () => {
    const person = await anErasedPerson();
    for (const round of [1, 2]) {
      for (const identity of identitiesOf(person)) {
        const event = aCdpEvent({ identity });
        for (const query of ['?dry_run=true', '']) {
          const answer = await admin.post(`/v1/cdp/events${query}`, event);
          expectProblem(answer, 409, 'profile_erased', ['identity profile_erased']);
        }
        const id = `order-${round}-${randomUUID()}`;
        const items = [{ ...event, externalEventId: id }, aCdpEvent()];
        const { status, body } = await admin.post('/v1/cdp/events/batch', { items });
        expect([status, body.results.map((each: any) => each.error_code ?? each.status)]).toEqual([
          200,
          ['profile_erased', 'accepted'],
        ]);
      }
      const external = anExternalEvent({ identity: { type: 'phone', value: `0${person.phone.slice(3)}` } });
      expectProblem(await admin.post('/v1/external-events', external), 409, 'profile_erased');
    }
  });

  it('are kept in review as which events they were, without anything of the person', async () => {
    const person = await anErasedPerson();
    const event = aCdpEvent({
      identity: { email: person.email, externalUserId: 'stranger-1' },
      properties: { amount: 1, nickname: person.marks[5] },
    });
    await admin.post('/v1/cdp/events', event);
    const [entry] = await reviewEntries(admin, '&reason=profile_erased');
    const replay = await admin.send(`/v1/review-entries/${entry.id}:replay`, undefined);
    expectProblem(replay, 422, 'validation_failed', ['payload not_replayable']);
    expect(entry).toMatchObject({
      payloadState: 'removed',
      stage: 'identity',
      status: 'open',
      source: 'shop.orders',
      externalEventId: event['externalEventId'],
      payload: {
        source: 'shop.orders',
        externalEventId: event['externalEventId'],
        eventType: 'purchase',
        occurredAt: '2026-01-02T03:04:05Z',
      },
    });
    expect(Object.keys(entry.payload)).not.toContain('identity');
    expect(await placesOf(service.databaseUrl, [...person.marks, 'stranger-1'])).toEqual([]);
  });

  it('that are stored already are duplicates, and nothing is held against what they say', async () => {
    const event = aCdpEvent({ identity: { externalUserId: `c-${randomUUID()}` } });
    const first = await admin.post('/v1/cdp/events', event);
    const { profileId } = (await admin.get(`/v1/events/${first.body.event_id}`)).body;
    await erase(admin, profileId);
    for (const copy of [event, { ...event, properties: { amount: 2 } }]) {
      const { status, body } = await admin.post('/v1/cdp/events', copy);
      expect([status, body]).toEqual([200, { status: 'duplicate', original_event_id: first.body.event_id }]);
    }
    expect(await reviewEntries(admin)).toEqual([]);
  });

  it('do not disturb those of others in their batch, nor make anything of the identifiers beside them', async () => {
    const person = await anErasedPerson();
    const [fresh, known] = [`c-${randomUUID()}`, `k-${randomUUID()}`];
    await admin.post('/v1/cdp/events', aCdpEvent({ identity: { externalUserId: known } }));
    const items = [
      aCdpEvent({ identity: { externalUserId: known } }),
      aCdpEvent({ identity: { externalUserId: fresh, email: person.email } }),
      aCdpEvent({ identity: { deviceKey: person.device } }),
      aCdpEvent(),
    ];
    const { body } = await admin.post('/v1/cdp/events/batch', { items });
    expect(body.results.map((each: any) => each.error_code ?? each.status)).toEqual([
      'accepted',
      'profile_erased',
      'profile_erased',
      'accepted',
    ]);
    expectProblem(await admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: fresh }), 404, 'not_found');
  });
});

describe('POST /v1/cdp/erasures:lift', () => {
  it('lets a customer who returns in again, by whichever identifier, as somebody new', async () => {
    const person = await anErasedPerson();
    const event = aCdpEvent({ identity: { externalUserId: person.subject, email: person.email } });
    expect((await admin.post('/v1/cdp/events', event)).status).toBe(409);
    const lifted = await admin.post(LIFT, { type: 'Email', value: person.email.toUpperCase() });
    expect([lifted.status, lifted.body]).toEqual([200, { status: 'lifted' }]);
    expect((await admin.post('/v1/cdp/events', event)).status).toBe(202);
    const found = await admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: person.subject });
    expect(found.body).toMatchObject({ eventCount: 1, mergedFrom: [] });
    expect(found.body.id).not.toBe(person.profileId);
    expect((await reviewEntries(admin, '&reason=profile_erased')).map(({ status }) => status)).toEqual(['superseded']);
    expectProblem(await admin.get(`/v1/cdp/profiles/${person.profileId}`), 404, 'not_found');
    // And may be erased again.
    expect((await erase(admin, found.body.id)).status).toBe(200);
    expect(await placesOf(service.databaseUrl, person.marks)).toEqual([]);
    expect((await admin.post('/v1/cdp/events', { ...event, externalEventId: 'another' })).status).toBe(409);
  });

  it('says when there is nothing to lift, and lifts nothing of another workspace', async () => {
    const person = await anErasedPerson();
    const wanted = { type: 'EXTERNAL', value: person.subject };
    const stranger = (await aWorkspace(service)).admin;
    expect((await stranger.post(LIFT, wanted)).body).toEqual({ status: 'not_erased' });
    expect((await admin.post(LIFT, { ...wanted, value: 'nobody-1' })).body).toEqual({ status: 'not_erased' });
    expect((await admin.post('/v1/cdp/events', aCdpEvent({ identity: { email: person.email } }))).status).toBe(409);
    expect((await admin.post(LIFT, wanted)).body).toEqual({ status: 'lifted' });
    expect((await admin.post(LIFT, wanted)).body).toEqual({ status: 'not_erased' });
  });

  it.each([
    [{ type: 'EXTERNAL', value: ' ' }, ['value placeholder_identity']],
    [{ type: 'FAX' }, ['value required', 'type enum']],
    [{ type: 'FAX', value: 'x1' }, ['type enum']],
  ])('refuses %j', async (body, faults) => {
    expectProblem(await admin.post(LIFT, body), 422, 'validation_failed', faults);
  });
});
