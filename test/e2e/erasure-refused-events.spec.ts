import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent } from '../support/builders';
import { type Client, expectProblem, reviewEntries, type Workspace } from '../support/client';
import { untilBlocked, withClient } from '../support/database';
import { placesOf } from '../support/traces';
import { aFullPerson, type FullPerson, workspacesForPersons } from '../support/persons';

const TESTS = 5;

let service: TestApp;
let nextWorkspace: () => Workspace;
let admin: Client;
let tenantId: string;

beforeAll(async () => {
  service = await startApp({ DEFAULT_PHONE_REGION: 'DE' });
  nextWorkspace = await workspacesForPersons(service, TESTS);
});

beforeEach(() => {
  ({ admin, tenantId } = nextWorkspace());
});

afterAll(() => service.stop());

async function anErasedPerson(): Promise<FullPerson> {
  const person = await aFullPerson(admin);
  expect((await admin.send(`/v1/cdp/profiles/${person.profileId}:erase`, undefined)).status).toBe(200);
  return person;
}

describe('events that name an erased person', () => {
  it('leave nothing of the person in review, whatever they are refused for', async () => {
    const person = await anErasedPerson();
    const { subject, email, phone, device } = person;
    const properties = { amount: 'much', nickname: person.marks[5] };
    const refused: [string, object][] = [
      ['/v1/external-events', anExternalEvent({ type: '', identity: { type: 'EXTERNAL', value: ` ${subject}` } })],
      ['/v1/external-events', anExternalEvent({ identity: { type: 'MAIL', value: email.toUpperCase() } })],
      ['/v1/external-events', anExternalEvent({ identity: { type: 'PHONE', value: phone }, attributes: [] })],
      ['/v1/cdp/events', aCdpEvent({ identity: { phone: `0${phone.slice(3)}` }, properties })],
      ['/v1/cdp/events', aCdpEvent({ identity: { email: 'no address', deviceKey: device }, properties })],
      ['/v1/cdp/events', aCdpEvent({ source: '', identity: { externalUserId: subject }, properties })],
      ['/v1/cdp/events', aCdpEvent({ occurredAt: `for ${email}`, identity: { email } })],
      ['/v1/cdp/events', aCdpEvent({ eventType: { email }, identity: { email } })],
      ['/v1/cdp/events', aCdpEvent({ identity: { externalUserId: subject }, [subject]: 1 })],
    ];
    for (const [path, event] of refused) expectProblem(await admin.post(path, event), 422, 'validation_failed');
    const items = refused.map(([, event]) => ({ ...event, externalEventId: randomUUID() }));
    expect((await admin.post('/v1/cdp/events/batch', { items })).body.results).toHaveLength(items.length);
    expect(await placesOf(service.databaseUrl, person.marks)).toEqual([]);
    const other = aCdpEvent({ properties: { amount: 'much' } });
    expectProblem(await admin.post('/v1/cdp/events', other), 422, 'validation_failed');
    const [last, ...others] = await reviewEntries(admin, '&unmask=true&status=open');
    expect(last).toMatchObject({ payloadState: 'whole', payload: other });
    expect(others.slice(0, refused.length).map(({ payloadState }) => payloadState)).toEqual(
      refused.map(() => 'removed'),
    );
  });

  it('leave nothing of the person in review where their ids are those of events of others', async () => {
    const person = await anErasedPerson();
    const stored = aCdpEvent();
    expect((await admin.post('/v1/cdp/events', stored)).status).toBe(202);
    const copy = { ...stored, identity: { email: person.email }, properties: { nickname: person.marks[5], amount: 1 } };
    const malformed = { ...copy, properties: { amount: person.marks[5] } };
    for (const event of [copy, malformed]) expect((await admin.post('/v1/cdp/events', event)).status).toBe(200);
    const fresh = aCdpEvent();
    const items = [
      fresh,
      ...[copy, malformed].map((event) => ({ ...event, externalEventId: fresh['externalEventId'] })),
    ];
    const { body } = await admin.post('/v1/cdp/events/batch', { items });
    expect(body.results.map(({ status }: any) => status)).toEqual(['accepted', 'duplicate', 'duplicate']);
    expect(await placesOf(service.databaseUrl, person.marks)).toEqual([]);
    const entries = await reviewEntries(admin, '&reason=payload_mismatch');
    const ids = [stored, fresh].map((event) => event['externalEventId']);
    expect(entries.filter(({ externalEventId }) => ids.includes(externalEventId))).toMatchObject([
      { payloadState: 'removed', occurrences: 2 },
      { payloadState: 'removed', occurrences: 2 },
    ]);
  });

  it('leave nothing of the person in review when they are refused while the person is erased', async () => {
    const { subject, email, marks, profileId } = await aFullPerson(admin);
    const own = { identity: { email }, properties: { nickname: marks[5], amount: 'much' }, [subject]: 1 };
    const [single, item] = [aCdpEvent(own), aCdpEvent({ ...own, identity: { externalUserId: subject } })];
    const whole = { items: [aCdpEvent({ ...own, properties: {} })], [subject]: 'red' };
    // The connection that records has a row for the workspace from now on, which the next refusals wait for.
    expect((await admin.post('/v1/cdp/events', aCdpEvent({ properties: { amount: 'much' } }))).status).toBe(422);
    const answers = await withClient(service.databaseUrl, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT FROM review_bytes WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
      const refusals = [
        admin.post('/v1/cdp/events', single),
        admin.post('/v1/cdp/events/batch', { items: [item] }),
        admin.post('/v1/cdp/events/batch', whole),
      ];
      await untilBlocked(service.databaseUrl, 'cds-review', 1);
      const erasure = await admin.send(`/v1/cdp/profiles/${profileId}:erase`, undefined);
      await client.query('COMMIT');
      return [erasure, ...(await Promise.all(refusals))];
    });
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 200, 422]);
    expect(await placesOf(service.databaseUrl, marks)).toEqual([]);
    const entries = (await reviewEntries(admin, '&status=open')).slice(0, 4);
    expect(entries.map(({ payloadState }) => payloadState)).toEqual(['removed', 'removed', 'removed', 'whole']);
  });

  it('leave nothing of the person in review where their whole request is refused', async () => {
    const person = await anErasedPerson();
    const { subject, email, marks } = person;
    const [own, other] = [
      aCdpEvent({ identity: { email }, properties: { nickname: marks[5] } }),
      anExternalEvent({ attributes: { big: 'x'.repeat(1_000) } }),
    ];
    const ofSubject = anExternalEvent({ identity: { type: 'EXTERNAL', value: subject } });
    const requests: [string, string][] = [
      ['/v1/cdp/events/batch', JSON.stringify({ items: [aCdpEvent(), own], [subject]: 'red' })],
      [
        '/v1/external-events:batch',
        JSON.stringify({ items: [ofSubject, ...Array.from({ length: 1_001 }, () => other)] }),
      ],
      ['/v1/external-events:batch', JSON.stringify([other, ofSubject])],
      ['/v1/external-events', JSON.stringify({ ...ofSubject, last: 1 }).slice(0, -3)],
      [
        '/v1/external-events',
        JSON.stringify({ ...ofSubject, attributes: JSON.parse('['.repeat(70) + ']'.repeat(70)) }),
      ],
    ];
    for (const [path, body] of requests) expect((await admin.send(path, body)).status).toBeGreaterThanOrEqual(400);
    expect(await placesOf(service.databaseUrl, marks)).toEqual([]);
    await admin.send('/v1/external-events:batch', JSON.stringify({ items: [other], colour: 'red' }));
    const [last, ...others] = await reviewEntries(admin, '&status=open');
    expect(last.payloadState).toBe('whole');
    expect(others.slice(0, 2).map(({ payloadState }) => payloadState)).toEqual(['removed', 'removed']);
  });
});

describe('fields of refused events', () => {
  it('leave no name behind that is a phone number of an erased person, however it is written', async () => {
    const { phone, profileId } = await aFullPerson(admin);
    const [country, national] = [phone.slice(1, 3), phone.slice(3)];
    const inFullWidth = national.replace(/./g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
    const names = [`${country}${national}`, national, `${country} ${national}`, `${country}${inFullWidth}`];
    names.push(`${country}\u2013${national.slice(0, 3)}\u00a0${national.slice(3)}`);
    // A wave dash, an Arabic letter mark, and a mark outside of the basic plane.
    names.push(`${country}\u301c${national.slice(0, 3)}\u061c${national.slice(3, 5)}\u{e0001}${national.slice(5)}`);
    for (const name of [...names, `${country}0${national}`]) {
      expectProblem(await admin.post('/v1/external-events', anExternalEvent({ [name]: 1 })), 422, 'validation_failed');
    }
    expect((await admin.send(`/v1/cdp/profiles/${profileId}:erase`, undefined)).status).toBe(200);
    const entries = await reviewEntries(admin, '&reason=unknown_field');
    expect(entries).toHaveLength(names.length + 1);
    expect(entries.map(({ payloadState }) => payloadState)).toEqual(entries.map(() => 'removed'));
    expect(entries.map(({ details }) => details.length)).toEqual(entries.map(() => 0));
    expect(await placesOf(service.databaseUrl, names)).toEqual([]);
  });
});
