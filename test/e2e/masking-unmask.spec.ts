import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, registerTypes } from '../support/builders';
import { type Answer, aWorkspace, type Client, expectProblem, type Workspace } from '../support/client';
import { withClient } from '../support/database';

const IDENTITY = { externalUserId: 'cust-xyzzy', email: 'Jane@Example.com' };
const PROPERTIES = { amount: 29.33, nickname: 'Zaphod', note: 'call +49 151 12345612' };
const FREE = {
  eventType: 'free',
  properties: { nickname: { type: 'string', pii: true } },
  additionalProperties: 'allow',
};
const HIDDEN = /Zaphod|xyzzy|12345612|jane@example/i;
const LOOK_UP = '/v1/cdp/profiles:lookup';
const CHALLENGE = 'Bearer realm="campaign-data-service", error="insufficient_scope", scope="pii:read"';

let service: SharedApp;
let workspace: Workspace;
let eventId: string;
let profileId: string;
let entryId: string;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  const { admin } = workspace;
  await registerTypes(admin);
  await admin.post('/v1/cdp/event-types', FREE);
  const event = aCdpEvent({ eventType: 'free', identity: IDENTITY, properties: PROPERTIES });
  eventId = (await admin.post('/v1/cdp/events', event)).body.event_id;
  profileId = (await admin.get(`/v1/events/${eventId}`)).body.profileId;
  await admin.post('/v1/cdp/events', { ...event, externalEventId: 'refused', occurredAt: 'yesterday' });
  entryId = (await admin.get('/v1/review-entries')).body.items[0].id;
});

/** Every view that unmasks, with the scope that it takes when it masks. */
const views = () =>
  [
    [`/v1/events/${eventId}`, 'events:read'],
    ['/v1/events', 'events:read'],
    [`/v1/cdp/profiles/${profileId}`, 'profiles:read'],
    [`/v1/cdp/profiles/${profileId}/events`, 'profiles:read'],
    [`/v1/review-entries/${entryId}`, 'review:read'],
    ['/v1/review-entries', 'review:read'],
    [LOOK_UP, 'profiles:read'],
  ] as const;

const ask = (client: Client, path: string, query: string): Promise<Answer> => {
  const address = `${path}?${query}`;
  return path === LOOK_UP ? client.post(address, { type: 'EMAIL', value: IDENTITY.email }) : client.get(address);
};

const auditLines = () =>
  withClient(service.databaseUrl, async (client) => {
    const { rows } = await client.query(
      'SELECT at, by, address, what FROM unmask_audit WHERE tenant_id = $1 ORDER BY id',
      [workspace.tenantId],
    );
    return rows as { at: Date; by: string; address: string; what: string }[];
  });

const keyIdOf = async (client: Client): Promise<string> => {
  const { body } = await workspace.admin.get('/v1/api-keys?limit=200');
  return body.items.find(({ hint }: { hint: string }) => hint.endsWith(client.key?.slice(-4) ?? '')).id;
};

describe('?unmask=true', () => {
  it('shows what the view masks, to the letter, to whoever has pii:read beside the scope of the view', async () => {
    for (const [path, scope] of views()) {
      const client = await workspace.client({ scopes: [scope, 'pii:read'] });
      const { status, body, headers } = await ask(client, path, 'unmask=true');
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
      expect(JSON.stringify(body)).toMatch(HIDDEN);
      const shown = body.items?.[0] ?? body;
      if (shown.payload !== undefined) {
        expect(shown.payload).toMatchObject({ identity: IDENTITY, properties: PROPERTIES });
      } else if (shown.eventId === undefined) {
        expect(shown.identifiers).toEqual([
          { type: 'EXTERNAL', value: 'cust-xyzzy' },
          { type: 'EMAIL', value: 'jane@example.com' },
        ]);
      } else expect(shown).toMatchObject({ eventId, identity: IDENTITY, properties: PROPERTIES });
    }
  });

  it('is noted with who, when, from where and what, before the answer, and without any value', async () => {
    const client = await workspace.client({ scopes: ['events:read', 'profiles:read', 'review:read', 'pii:read'] });
    const started = Date.now();
    for (const [path] of views()) await ask(client, path, 'unmask=true');
    const lines = await auditLines();
    const by = await keyIdOf(client);
    expect(lines.map(({ what }) => what)).toEqual([
      `GET /v1/events/${eventId}`,
      `GET /v1/events ${eventId}`,
      `GET /v1/cdp/profiles/${profileId}`,
      `GET /v1/cdp/profiles/${profileId}/events`,
      `GET /v1/review-entries/${entryId}`,
      `GET /v1/review-entries ${entryId}`,
      `POST ${LOOK_UP} ${profileId}`,
    ]);
    for (const line of lines) {
      expect([line.by, line.address]).toEqual([by, expect.stringContaining('127.0.0.1')]);
      expect(line.at.getTime()).toBeGreaterThanOrEqual(started - 1);
    }
    expect(JSON.stringify(lines)).not.toMatch(HIDDEN);
  });

  it('is refused without pii:read, whatever else is asked, with a challenge that names the scope, and notes nothing', async () => {
    for (const [path, scope] of views()) {
      const client = await workspace.client({ scopes: [scope] });
      for (const query of ['unmask=true', 'unmask=%74rue&limit=0', 'surely_unknown=1&unmask=true']) {
        const answer = await ask(client, path, query);
        expectProblem(answer, 403, 'insufficient_scope', []);
        expect(answer.headers.get('www-authenticate')).toBe(CHALLENGE);
        expect(JSON.stringify(answer.body)).not.toMatch(HIDDEN);
      }
      expect((await ask(client, path, '')).status).toBe(200);
    }
    expect(await auditLines()).toEqual([]);
  });

  it('does not stand for the scope of the view', async () => {
    const client = await workspace.client({ scopes: ['pii:read'] });
    for (const [path] of views()) {
      expectProblem(await ask(client, path, 'unmask=true'), 403, 'insufficient_scope');
    }
  });

  it.each(['unmask=false', '', 'limit=1'])('is not assumed by ?%s', async (query) => {
    for (const [path] of views()) {
      const { status, body } = await ask(workspace.admin, path, query);
      expect([200, 422]).toContain(status);
      expect(JSON.stringify(body)).not.toMatch(HIDDEN);
    }
    expect(await auditLines()).toEqual([]);
  });

  it.each(['unmask=', 'unmask=TRUE', 'unmask=1', 'unmask=true&unmask=true', 'unmask=true&unmask=false', 'Unmask=true'])(
    'is refused when written ?%s, and shows nothing',
    async (query) => {
      for (const [path] of views()) {
        const answer = await ask(workspace.admin, path, query);
        expectProblem(answer, 422, 'validation_failed');
        expect(JSON.stringify(answer.body)).not.toMatch(HIDDEN);
      }
    },
  );

  it('notes nothing of what is not found', async () => {
    const client = await workspace.client({ scopes: ['events:read', 'profiles:read', 'review:read', 'pii:read'] });
    for (const path of [`/v1/review-entries/${eventId}`, `/v1/events/${profileId}`, `/v1/cdp/profiles/${eventId}`]) {
      expectProblem(await client.get(`${path}?unmask=true`), 404, 'not_found', []);
    }
    expect(await auditLines()).toEqual([]);
  });
});

describe('a masked view of a refused event', () => {
  const refused = async (text: string): Promise<any> => {
    expect((await workspace.admin.send('/v1/cdp/events', text)).status).toBeGreaterThanOrEqual(400);
    return (await workspace.admin.get('/v1/review-entries')).body.items[0].payload;
  };

  it('hides what any type declares personal where the type is misspelt, and shows it once that type is registered', async () => {
    const event = aCdpEvent({ eventType: 'fre', identity: IDENTITY, properties: { nickname: 'Zaphod', amount: 1 } });
    expect((await refused(JSON.stringify(event))).properties).toEqual({ nickname: 'Za***', amount: 1 });
    await registerTypes(workspace.admin, [{ eventType: 'fre', properties: { amount: { type: 'number' } } }]);
    const [entry] = (await workspace.admin.get('/v1/review-entries')).body.items;
    expect(entry.payload.properties).toEqual({ nickname: 'Zaphod', amount: 1 });
  });

  const ODD = '12345678901234567890';

  it('hides the same where a number is shown as it was sent', async () => {
    const named = { eventType: 'named', properties: { 'Stra\u00dfe': { type: 'string', pii: true } } };
    await registerTypes(workspace.admin, [{ ...named, additionalProperties: 'allow' }]);
    const properties = { nickname: 'fine', note: 'call +49 151 12345612' };
    const event = { ...aCdpEvent({ eventType: 'named', properties }), identity: IDENTITY, custmer: 'cust-xyzzy' };
    const text = JSON.stringify(event).replace(
      '"properties":{',
      `"properties":{"Stra\\u00dfe":"Zaphodweg 1","n":[-${ODD},1e999],`,
    );
    const payload = await refused(text);
    expect(payload).not.toMatch(/Zaphodweg/);
    expect(payload).not.toMatch(HIDDEN);
    expect(payload).toContain(`"n":[-${ODD},1e999]`);
    const numbers = payload.replace(`-${ODD}`, '0').replace('1e999', '0');
    expect(JSON.parse(numbers)).toEqual({
      ...event,
      identity: { externalUserId: 'cu***', email: 'J***@E***.com' },
      custmer: 'cu***',
      properties: { 'Stra\u00dfe': 'Za***', n: [0, 0], nickname: 'fine', note: 'call +49*******12' },
    });
    const [entry] = (await workspace.admin.get('/v1/review-entries?unmask=true')).body.items;
    expect(entry.payload).toBe(text);
  });

  it('hides a misspelt identity where the payload is too deep to be shown as a value', async () => {
    const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`;
    const text = JSON.stringify({ ...aCdpEvent(), custmer: 'cust-xyzzy' }).replace(
      '"properties":{',
      `"properties":{"x":${deep},`,
    );
    expect(await refused(text)).not.toMatch(HIDDEN);
  });
});
