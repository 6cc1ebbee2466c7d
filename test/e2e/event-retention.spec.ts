import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent, CDP_EVENTS, INGEST_FAMILIES } from '../support/builders';
import { aWorkspace, type Client, expectProblem, reviewEntries, type Workspace } from '../support/client';
import { registerTypes } from '../support/builders';
import { rowsOf, withClient } from '../support/database';
import { untilDrained } from '../support/processing';
import { expireOver, letDaysPass } from '../support/retention';
import { until } from '../support/until';

let service: TestApp;
let workspace: Workspace;
let admin: Client;

beforeAll(async () => {
  service = await startApp({}, undefined, [], { processesEvents: true });
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
  await registerTypes(admin);
});

afterAll(() => service.stop());

const put = (client: Client, body: unknown) => client.send('/v1/retention', JSON.stringify(body), { method: 'PUT' });

async function accept(path: string, event: object): Promise<string> {
  const { status, body } = await admin.post(path, event);
  expect([status, body.status]).toEqual([202, 'accepted']);
  return body.event_id;
}

/** Lets these events, or all there are, become 40 days old, and removes what is older than 30. */
async function expire(eventIds: readonly string[] | null = null): Promise<void> {
  await untilDrained(service.databaseUrl, workspace.tenantId);
  await letDaysPass(service.databaseUrl, workspace.tenantId, 40, eventIds);
  await expireOver(admin, 30);
}

const profileOf = async (value: string, type = 'EXTERNAL') =>
  (await admin.post('/v1/cdp/profiles:lookup', { type, value })).body;

describe('PUT and GET /v1/retention', () => {
  it('keep everything until somebody says otherwise, and say who changed it and when', async () => {
    const nothing = { eventDays: null, changedAt: null, changedBy: null, expiredBefore: null };
    expect((await admin.get('/v1/retention')).body).toEqual(nothing);
    expect((await put(admin, { eventDays: null })).body).toEqual(nothing);
    expect((await admin.get('/v1/retention')).body).toEqual(nothing);
    const changed = await put(admin, { eventDays: 365 });
    const rule = { eventDays: 365, changedAt: expect.any(String), changedBy: expect.any(String), expiredBefore: null };
    expect([changed.status, changed.body]).toEqual([200, rule]);
    const repeated = await put(admin, { eventDays: 365 });
    expect(repeated.body).toMatchObject({ eventDays: 365, changedAt: changed.body.changedAt });
    for (const body of [{ eventDays: null }, {}]) {
      await put(admin, { eventDays: 30 });
      expect((await put(admin, body)).body).toMatchObject({ eventDays: null });
      expect((await admin.get('/v1/retention')).body).toMatchObject({ eventDays: null });
    }
  });

  it.each([
    [{ eventDays: 29 }, 'eventDays'],
    [{ eventDays: 3651 }, 'eventDays'],
    [{ eventDays: 30.5 }, 'eventDays'],
    [{ eventDays: '30' }, 'eventDays'],
    [{ eventDay: 30 }, 'eventDay'],
  ])('refuse %j and change nothing', async (body, path) => {
    const refused = await put(admin, body);
    expectProblem(refused, 422, 'validation_failed');
    expect(refused.body.details.map((fault: { path: string }) => fault.path)).toContain(path);
    expect((await admin.get('/v1/retention')).body).toMatchObject({ eventDays: null, changedAt: null });
  });

  it('remove old events seconds after a transaction that held them up has ended', async () => {
    const eventId = await accept('/v1/external-events', anExternalEvent());
    await untilDrained(service.databaseUrl, workspace.tenantId);
    await letDaysPass(service.databaseUrl, workspace.tenantId, 40);
    // A step leases its workspace for 30 seconds; one that could do nothing makes the next one due in five.
    const wasHeldUp = `SELECT 1 FROM event_retention WHERE tenant_id = $1
      AND next_step_at > changed_at AND next_step_at < clock_timestamp() + interval '6 seconds'`;
    await withClient(service.databaseUrl, async (writer) => {
      await writer.query('BEGIN');
      await writer.query('UPDATE events SET source = source WHERE tenant_id = $1 AND event_id = $2', [
        ...[workspace.tenantId, eventId],
      ]);
      expect((await put(admin, { eventDays: 30 })).status).toBe(200);
      await until(async () => (await rowsOf(service.databaseUrl, wasHeldUp, [workspace.tenantId])).length > 0);
      await writer.query('COMMIT');
    });
    await until(async () => (await admin.get(`/v1/events/${eventId}`)).status === 410);
  });

  it('remove old events soon after a process ended during a step', async () => {
    const eventId = await accept('/v1/external-events', anExternalEvent());
    await untilDrained(service.databaseUrl, workspace.tenantId);
    await letDaysPass(service.databaseUrl, workspace.tenantId, 40);
    // What the process leaves: a lease, of which two seconds are left, and a job that is free again.
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO event_retention (tenant_id, event_days, changed_at, changed_by, next_step_at)
       VALUES ($1, 30, now(), 'test', now() + interval '2 seconds')`,
      [workspace.tenantId],
    );
    await rowsOf(service.databaseUrl, `SELECT cds_jobs.add_job('event-retention', payload := '{}')`);
    await until(async () => (await admin.get(`/v1/events/${eventId}`)).status === 410);
  });

  it('are for administrators', async () => {
    const reader = await workspace.client({ scopes: ['events:read', 'profiles:write'] });
    for (const refused of [await reader.get('/v1/retention'), await put(reader, { eventDays: 30 })]) {
      expectProblem(refused, 403, 'insufficient_scope');
    }
  });
});

describe.each(INGEST_FAMILIES)('an expired event of the $family family', (family) => {
  const { path, batchPath, anEvent, anEventWith, id } = family;

  it('is a duplicate of its id, sent by itself, in a batch and on trial', async () => {
    const [event, fresh] = [anEventWith({ said: 1 }), anEvent()];
    const eventId = await accept(path, event);
    await expire();
    const duplicate = { status: 'duplicate', original_event_id: eventId };
    const alone = await admin.post(path, event);
    expect([alone.status, alone.body]).toEqual([200, expect.objectContaining(duplicate)]);
    for (const query of ['?dry_run=true', '']) {
      const { body } = await admin.post(`${batchPath}${query}`, { items: [event, fresh, event] });
      expect(body.results).toMatchObject([duplicate, { status: 'accepted' }, duplicate]);
    }
    expect((await admin.post(`${path}?dry_run=true`, event)).body).toMatchObject(duplicate);
    expect(await reviewEntries(admin)).toEqual([]);
  });

  it('is a duplicate whatever is wrong with the copy, and one that says something else is noted', async () => {
    const event = anEventWith({ said: 1 });
    const eventId = await accept(path, event);
    await expire();
    const wrong = { ...event, [family.time]: 'yesterday' };
    const differing = { ...event, [family.properties]: { said: 2 } };
    for (const copy of [wrong, differing]) {
      const { status, body } = await admin.post(path, copy);
      expect([status, body]).toEqual([200, expect.objectContaining({ original_event_id: eventId })]);
    }
    const entries = await reviewEntries(admin);
    expect(entries.map(({ reason, eventId: about }) => [reason, about])).toEqual([['payload_mismatch', eventId]]);
  });

  it('is told from a copy that says something else also where both are in one batch', async () => {
    const event = anEventWith({ said: 1 });
    const eventId = await accept(path, event);
    await expire();
    const differing = { ...event, [family.properties]: { said: 2 } };
    for (const query of ['?dry_run=true', '']) {
      const { body } = await admin.post(`${batchPath}${query}`, { items: [differing, event, differing] });
      expect(body.results).toMatchObject(Array(3).fill({ status: 'duplicate', original_event_id: eventId }));
    }
    const entries = await reviewEntries(admin);
    expect(entries.map(({ reason, occurrences }) => [reason, occurrences])).toEqual([['payload_mismatch', 2]]);
  });

  it('is 410 by its id and on no list; another workspace knows nothing of it', async () => {
    const event = anEvent();
    const eventId = await accept(path, event);
    const stays = await accept(path, anEvent());
    await expire([eventId]);
    expectProblem(await admin.get(`/v1/events/${eventId}`), 410, 'event_expired', []);
    expect((await admin.get('/v1/events')).body.items.map((each: any) => each.eventId)).toEqual([stays]);
    const byName = `source=${String(event['source'])}&externalEventId=${String(event[id])}`;
    expect((await admin.get(`/v1/events?${byName}`)).body.items).toEqual([]);
    const stranger = (await aWorkspace(service)).admin;
    expectProblem(await stranger.get(`/v1/events/${eventId}`), 404, 'not_found', []);
    await registerTypes(stranger);
    expect((await stranger.post(path, event)).body.status).toBe('accepted');
  });
});

describe('the customer of expired events', () => {
  const link = (identity: object) => accept('/v1/cdp/events', aCdpEvent({ identity }));

  it('says how many there were, and shows the others on the timeline', async () => {
    const [old, young] = [await link({ externalUserId: 'jane' }), await link({ externalUserId: 'jane' })];
    await expire([old]);
    const profile = await profileOf('jane');
    expect(profile).toMatchObject({ eventCount: 1, eventsExpired: 1 });
    const timeline = (await admin.get(`/v1/cdp/profiles/${profile.id}/events`)).body.items;
    expect(timeline.map((each: any) => each.eventId)).toEqual([young]);
    expect((await admin.get('/v1/cdp/profiles')).body.items).toEqual([profile]);
    const exported = await admin.send(`/v1/cdp/profiles/${profile.id}:export`, undefined);
    const lines = String(exported.body).trim().split('\n');
    const records = lines.map((line) => JSON.parse(line));
    expect(records[0]).toMatchObject({ record: 'profile', data: { eventCount: 1, eventsExpired: 1 } });
    expect(records.filter(({ record }) => record === 'event')).toHaveLength(1);
    await expire();
    expect(await profileOf('jane')).toMatchObject({ id: profile.id, eventCount: 0, eventsExpired: 2 });
  });

  it('has those of all its profiles, and an undone merge parts them again', async () => {
    const [byMail, byId] = [{ email: 'jane@example.com' }, { externalUserId: 'jane' }];
    for (const identity of [byMail, byMail, byId]) await link(identity);
    const merging = await link({ ...byId, ...byMail });
    await expire();
    const merged = await profileOf('jane');
    expect(merged).toMatchObject({ eventCount: 0, eventsExpired: 4 });
    const [merge] = (await admin.get(`/v1/cdp/profiles/${merged.id}/merges`)).body.items;
    expect(merge.eventId).toBe(merging);
    expect((await admin.send(`/v1/cdp/merges/${merge.id}:undo`, undefined)).status).toBe(200);
    expect(await profileOf('jane')).toMatchObject({ eventsExpired: 2 });
    expect(await profileOf('jane@example.com', 'EMAIL')).toMatchObject({ eventsExpired: 2 });
  });

  it('can be erased before and after; copies of their events are duplicates all the same', async () => {
    const identity = { externalUserId: 'jane' };
    const [gone, erased] = [aCdpEvent({ identity }), aCdpEvent({ identity })];
    const ids = [await accept('/v1/cdp/events', gone), await accept('/v1/cdp/events', erased)];
    await expire([ids[0]!]);
    const { id } = await profileOf('jane');
    expect((await admin.send(`/v1/cdp/profiles/${id}:erase`, undefined)).status).toBe(200);
    await expire([ids[1]!]);
    for (const [index, event] of [gone, erased].entries()) {
      for (const copy of [event, { ...event, properties: { amount: 1 } }, { ...event, unknown: 'field' }]) {
        const { status, body } = await admin.post('/v1/cdp/events', copy);
        expect([status, body.original_event_id]).toEqual([200, ids[index]]);
      }
    }
    expect((await admin.post('/v1/cdp/events', aCdpEvent({ identity }))).body.error_code).toBe('profile_erased');
    // Nobody knows any more whose event the expired one was: a copy that differs is noted without the person.
    const entries = await reviewEntries(admin, '&reason=payload_mismatch');
    const shown = entries.map(({ eventId, payloadState, payload }) => [
      ...[eventId, payloadState, Object.keys(payload).sort()],
    ]);
    expect(shown).toEqual([[ids[0], 'removed', ['eventType', 'externalEventId', 'occurredAt', 'source']]]);
  });
});

describe('a review entry about an expired event', () => {
  it('that was refused before it was accepted is answered duplicate when it is replayed', async () => {
    const event = aCdpEvent();
    const refused = await admin.post('/v1/cdp/events', { ...event, properties: { amount: 'much' } });
    expect(refused.status).toBe(422);
    const [entry] = await reviewEntries(admin);
    await accept('/v1/cdp/events', event);
    await expire();
    // As if two nodes had met at the event.
    await rowsOf(service.databaseUrl, `UPDATE review_entries SET status = 'open' WHERE id = $1`, [entry.id]);
    const replayed = await admin.post(`/v1/review-entries/${entry.id}:replay`, { payload: event });
    expect([replayed.status, replayed.body.outcome.status]).toEqual([200, 'duplicate']);
    expect(replayed.body.reviewEntry.status).toBe('replayed');
  });

  it('whose processing had failed is closed with it, and by a replay where an earlier version left it open', async () => {
    const eventId = await accept('/v1/cdp/events', aCdpEvent());
    await untilDrained(service.databaseUrl, workspace.tenantId);
    // What a worker writes when an event fails for good.
    await rowsOf(service.databaseUrl, `UPDATE events SET queue_bundle_id = NULL WHERE event_id = $1`, [eventId]);
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO event_processing VALUES ($1, $2, 'failed', 5, now(), 'validation_failed: wrong', '[]')`,
      [workspace.tenantId, eventId],
    );
    const entryId = randomUUID();
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, source,
         external_event_id, event_type, event_id, payload_form, occurrences, first_seen_at, last_seen_at, status)
       VALUES ($1, $3, 'error', 'processing', 'validation_failed', 'm', '[]', 'cdp', 'shop.orders', 'x', 'purchase', $2,
         'json', 1, now(), now(), 'open')`,
      [workspace.tenantId, eventId, entryId],
    );
    await expire();
    const closed = { status: 'superseded', resolution: { action: 'superseded', outcome: 'expired', eventId } };
    expect((await admin.get(`/v1/review-entries/${entryId}`)).body).toMatchObject(closed);
    const again = await admin.send(`/v1/review-entries/${entryId}:replay`, undefined);
    expectProblem(again, 409, 'entry_not_open');
    const reopen = `UPDATE review_entries SET status = 'open', closed_at = NULL, resolution = NULL WHERE id = $1`;
    await rowsOf(service.databaseUrl, reopen, [entryId]);
    const replayed = await admin.send(`/v1/review-entries/${entryId}:replay`, undefined);
    expect([replayed.status, replayed.body.outcome.status]).toEqual([200, 'duplicate']);
    expect(replayed.body.reviewEntry).toMatchObject({ ...closed, occurrences: 1 });
  });
});

it('a check of an event type looks at the events that are left', async () => {
  const ids = [
    await accept(CDP_EVENTS.path, aCdpEvent({ properties: { amount: 1 } })),
    await accept(CDP_EVENTS.path, aCdpEvent({ properties: { amount: 2 } })),
  ];
  await expire([ids[0]!]);
  const check = await admin.post('/v1/cdp/event-types:check', {
    eventType: 'purchase',
    properties: { amount: { type: 'integer' } },
  });
  expect(check.body.sample).toMatchObject({ checked: 1, pass: 1 });
});

it('more days, or all of them, bring nothing back', async () => {
  const event = anExternalEvent();
  const eventId = await accept('/v1/external-events', event);
  await expire();
  for (const eventDays of [3650, null]) {
    expect((await put(admin, { eventDays })).status).toBe(200);
    expectProblem(await admin.get(`/v1/events/${eventId}`), 410, 'event_expired', []);
    expect((await admin.post('/v1/external-events', event)).body.status).toBe('duplicate');
  }
});

it('metrics count what was removed, and say how far behind the removal is', async () => {
  await accept('/v1/external-events', anExternalEvent());
  await expire();
  const text = String((await admin.get('/metrics')).body);
  expect(text).toMatch(/^cds_expired_events_total [1-9]\d*$/m);
  expect(text).toMatch(/^cds_retention_behind_seconds \d/m);
});
