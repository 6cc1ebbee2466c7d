import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { WORKSPACE_VIEWERS_MAX } from '../../src/console/live/live-viewers';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent, INGEST_FAMILIES, registerTypes } from '../support/builders';
import { aWorkspace, theReviewEntry, type Workspace } from '../support/client';
import { FROM_CONSOLE, signedIn, type Browser } from '../support/console';
import { waitingForLocks, withClient } from '../support/database';
import { openLive, requestLive, type LiveStream } from '../support/live';
import { until } from '../support/until';

let service: SharedApp;
let workspace: Workspace;
let browser: Browser;
const opened: LiveStream[] = [];

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  browser = await signedIn(service.url, workspace.admin.key!);
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});

const open = async (by: Browser, query = ''): Promise<LiveStream> => {
  const stream = await openLive(by, query);
  opened.push(stream);
  return stream;
};
const problemOf = async (query: string, by: Browser = browser) => {
  const answer = await requestLive(by, query);
  return [answer.statusCode, JSON.parse(await textOf(answer)).error_code];
};
const resultsOf = (items: readonly any[]): string[] => items.map(({ source, result }) => `${source} ${result}`).sort();

describe.each(INGEST_FAMILIES)(
  'live events of the family $family',
  ({ family, path, batchPath, anEvent, ...names }) => {
    beforeEach(() => registerTypes(workspace.admin));

    it('show each answer once: accepted, duplicate and refused, single, in batches and replayed', async () => {
      const { admin } = workspace;
      const stream = await open(browser);
      const event = anEvent({ source: 'shop' });
      const wrong = anEvent({ source: 'app', [names.time]: 'yesterday' });
      const { event_id: eventId } = (await admin.post(path, event)).body;
      await admin.post(path, event);
      await admin.post(path, wrong);
      const entry = await theReviewEntry(admin);
      const shared = { family, source: 'shop', eventType: event[names.type], id: event[names.id] };
      const refused = { family, source: 'app', eventType: wrong[names.type], id: wrong[names.id] };
      const code = { result: 'refused', eventId: null, codes: ['format'], entryId: entry.id };
      expect(await stream.received(3)).toEqual([
        { at: expect.any(String), ...shared, result: 'accepted', eventId, codes: [] },
        { at: expect.any(String), ...shared, result: 'duplicate', eventId, codes: [] },
        { at: expect.any(String), ...refused, ...code },
      ]);
      await admin.post(batchPath, { items: [event, anEvent({ source: 'new' }), wrong, 'no event'] });
      const inBatch = (await stream.received(7)).slice(3);
      expect(resultsOf(inBatch)).toEqual(['app refused', 'new accepted', 'null refused', 'shop duplicate']);
      const entries = (await admin.get('/v1/review-entries')).body.items;
      const entryIds = inBatch.flatMap((item) => item.entryId ?? []);
      expect(entryIds.sort()).toEqual(entries.map(({ id }: { id: string }) => id).sort());
      const replayed = await admin.post(`/v1/review-entries/${entry.id}:replay`, {
        payload: { ...wrong, [names.time]: undefined },
      });
      expect(replayed.body.outcome.status).toBe('accepted');
      const last = (await stream.received(8))[7];
      expect(last).toMatchObject({ ...refused, result: 'accepted', eventId: replayed.body.outcome.event_id });
      expect(stream.notShown()).toBe(0);
    });

    it('show what becomes of the events of a bulk replay', async () => {
      const { admin } = workspace;
      await admin.post(path, anEvent({ source: 'app', [names.time]: 'yesterday' }));
      const { id: entryId } = await theReviewEntry(admin);
      const stream = await open(browser);
      await admin.post('/v1/review-entries:replay', { filter: { source: 'app' } });
      expect(await stream.received(1)).toMatchObject([{ family, source: 'app', result: 'refused', entryId }]);
    });

    it('show requests that are refused as a whole, with their entry, and no dry run', async () => {
      const { admin } = workspace;
      const stream = await open(browser);
      await admin.post(`${path}?dry_run=true`, anEvent());
      await admin.send(path, '{');
      const [item] = await stream.received(1);
      const entry = await theReviewEntry(admin);
      expect(item).toEqual({
        at: expect.any(String),
        family,
        source: null,
        eventType: null,
        id: null,
        result: 'refused',
        eventId: null,
        codes: ['malformed_json'],
        entryId: entry.id,
      });
    });

    it('never hold an identity or a property', async () => {
      const stream = await open(browser);
      const secrets = ['jane.doe@example.com', 'a very private note'];
      const identity = names.anIdentity('EMAIL', secrets[0]);
      const event = names.anEventWith({ note: secrets[1] }, { identity });
      await workspace.admin.post(path, event);
      await workspace.admin.post(path, { ...event, source: 7 });
      await workspace.admin.post(batchPath, { items: [{ ...event, [names.time]: secrets[1] }] });
      await stream.received(3);
      for (const secret of secrets) expect(stream.text()).not.toContain(secret);
    });
  },
);

describe('GET /console/api/live', () => {
  it('filters by names to include and to exclude', async () => {
    const { admin } = workspace;
    const [only, without, refused] = [
      await open(browser, '?source=shop,app&eventType=purchase&result=accepted,duplicate&family=external'),
      await open(browser, '?excludeSource=shop&excludeEventType=login&excludeResult=duplicate'),
      await open(browser, '?result=refused'),
    ];
    const events = [
      anExternalEvent({ source: 'shop' }),
      anExternalEvent({ source: 'app' }),
      anExternalEvent({ source: 'app', type: 'login' }),
      anExternalEvent({ source: 'web' }),
      anExternalEvent({ source: 'app', occurred_at: 'yesterday' }),
    ];
    await admin.post('/v1/external-events:batch', { items: [...events, ...events.slice(0, 4)] });
    const all = await open(browser);
    await admin.post('/v1/external-events', anExternalEvent({ source: 'web' }));
    await Promise.all([all.received(1), without.received(4)]);
    expect(resultsOf(only.items)).toEqual(['app accepted', 'app duplicate', 'shop accepted', 'shop duplicate']);
    expect(resultsOf(without.items)).toEqual(['app accepted', 'app refused', 'web accepted', 'web accepted']);
    expect(resultsOf(refused.items)).toEqual(['app refused']);
  });

  it('refuses filters with unknown names, too many, or of unknown parameters', async () => {
    const many = Array.from({ length: 21 }, (_unused, n) => `s${n}`).join();
    for (const query of ['?result=lost', '?family=web', `?excludeSource=${many}`, '?sources=shop']) {
      expect(await problemOf(query)).toEqual([422, 'validation_failed']);
    }
  });

  it('shows nothing of other workspaces', async () => {
    const other = await aWorkspace(service);
    const [mine, theirs] = [await open(browser), await open(await signedIn(service.url, other.admin.key!))];
    await workspace.admin.post('/v1/external-events', anExternalEvent({ source: 'mine' }));
    await other.admin.post('/v1/external-events', anExternalEvent({ source: 'theirs' }));
    await Promise.all([mine.received(1), theirs.received(1)]);
    await workspace.admin.post('/v1/external-events', anExternalEvent({ source: 'mine' }));
    await other.admin.post('/v1/external-events', anExternalEvent({ source: 'theirs' }));
    await Promise.all([mine.received(2), theirs.received(2)]);
    expect([resultsOf(mine.items), resultsOf(theirs.items)]).toEqual([
      ['mine accepted', 'mine accepted'],
      ['theirs accepted', 'theirs accepted'],
    ]);
  });

  it('shows a rare refusal beside a flood of another source, and counts what it does not show', async () => {
    const { admin } = workspace;
    const stream = await open(browser);
    const loud = Array.from({ length: 999 }, () => anExternalEvent({ source: 'loud' }));
    await admin.post('/v1/external-events:batch', { items: [...loud, anExternalEvent({ source: 'rare', type: 7 })] });
    await until(() => stream.items.length + stream.notShown() === 1_000);
    expect(stream.items.filter(({ source }) => source === 'rare')).toHaveLength(1);
    expect(stream.items.length).toBeLessThan(200);
  });

  it('needs a session and events:read, and names review entries only with review:read', async () => {
    const { status } = await fetch(`${service.url}/console/api/live`, { headers: FROM_CONSOLE });
    expect(status).toBe(401);
    const blind = await workspace.client({ scopes: ['review:read'] });
    expect(await problemOf('', await signedIn(service.url, blind.key!))).toEqual([403, 'insufficient_scope']);
    const reader = await workspace.client({ scopes: ['events:read'] });
    const stream = await open(await signedIn(service.url, reader.key!));
    await workspace.admin.post('/v1/external-events', anExternalEvent({ occurred_at: 'yesterday' }));
    const [item] = await stream.received(1);
    expect(item).toMatchObject({ result: 'refused', codes: ['format'] });
    expect(item).not.toHaveProperty('entryId');
  });

  it('ends with the session, and with its key', async () => {
    const key = (await workspace.admin.post('/v1/api-keys', { name: 'viewer', scopes: ['events:read'] })).body;
    const [byKey, bySession] = [await open(await signedIn(service.url, key.key)), await open(browser)];
    await workspace.admin.post(`/v1/api-keys/${key.apiKey.id}:revoke`, {});
    await until(() => byKey.ended() !== undefined);
    expect([byKey.ended(), bySession.ended()]).toEqual(['session_ended', undefined]);
    await browser.delete('/session');
    await until(() => bySession.ended() !== undefined);
    expect(bySession.ended()).toBe('session_ended');
  });

  it('serves a bounded number of viewers of a workspace, and others beside them', async () => {
    const other = await signedIn(service.url, (await aWorkspace(service)).admin.key!);
    for (let viewer = 0; viewer < WORKSPACE_VIEWERS_MAX; viewer += 1) await open(browser);
    const refused = await requestLive(browser);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '10']);
    expect(JSON.parse(await textOf(refused))).toMatchObject({
      error_code: 'unavailable',
      detail: expect.stringContaining('This workspace has 20 open views'),
    });
    await open(other);
    opened[0]?.close();
    // The service notices that the viewer has left.
    await until(async () => {
      const answer = await requestLive(browser);
      answer.destroy();
      return answer.statusCode === 200;
    });
  });

  it('answers HEAD at once with the headers of the stream, and without a viewer', async () => {
    for (let asked = 0; asked <= WORKSPACE_VIEWERS_MAX; asked += 1) {
      const { status, headers, body } = await browser.send('/live', undefined, { method: 'HEAD' });
      expect([status, body]).toEqual([200, undefined]);
      expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    }
    await open(browser);
  });

  it('keeps no place for viewers that leave before their session is looked up', async () => {
    const server: Server = service.app.getHttpServer();
    const responses: ServerResponse[] = [];
    const note = (_request: IncomingMessage, response: ServerResponse): void => void responses.push(response);
    server.on('request', note);
    await withClient(service.databaseUrl, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE console_sessions IN ACCESS EXCLUSIVE MODE');
      const leave = new AbortController();
      const headers = { ...FROM_CONSOLE, cookie: browser.cookie! };
      const asked = Array.from({ length: WORKSPACE_VIEWERS_MAX }, () =>
        fetch(`${service.url}/console/api/live`, { headers, signal: leave.signal }).catch(() => undefined),
      );
      await until(() => responses.length === WORKSPACE_VIEWERS_MAX);
      await until(async () => (await waitingForLocks(service.databaseUrl, { statement: 'console_sessions' })) > 0);
      leave.abort();
      await Promise.all(asked);
      await until(() => responses.every(({ closed }) => closed));
      await client.query('ROLLBACK');
    });
    server.off('request', note);
    await open(browser);
  });
});
