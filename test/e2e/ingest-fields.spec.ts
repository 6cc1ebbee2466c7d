import { sharedApp, type SharedApp } from '../support/app';
import { INGEST_FAMILIES, registerTypes } from '../support/builders';
import {
  aReadyClient,
  aWorkspace,
  expectProblem,
  faultsOf,
  reviewEntries,
  storedEvent,
  theReviewEntry,
} from '../support/client';

const HOUR_MS = 3_600_000;

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

describe.each(INGEST_FAMILIES)('the fields of an event of the $family family', (family) => {
  const { path, batchPath, anEvent, anEventWith, id, type, time, properties } = family;
  // An unnamed type is an unregistered one too, but that fault would only repeat the first.
  const required = ['source', id, type, 'identity'];

  it.each(required)('are refused without %s, and with null for it', async (field) => {
    const client = await aReadyClient(service);
    for (const value of [undefined, null]) {
      expectProblem(await client.post(path, anEvent({ [field]: value })), 422, 'validation_failed', [
        `${field} required`,
      ]);
    }
  });

  it.each(required)('are refused with a %s of another JSON type', async (field) => {
    const client = await aReadyClient(service);
    for (const value of [4711, true, []]) {
      expectProblem(await client.post(path, anEvent({ [field]: value })), 422, 'validation_failed', [`${field} type`]);
    }
  });

  it.each(['source', id, type])('are refused with a %s of which nothing can be seen', async (field) => {
    const client = await aReadyClient(service);
    for (const value of ['', '   ', '\t\n', '\u00a0']) {
      expectProblem(await client.post(path, anEvent({ [field]: value })), 422, 'validation_failed', [`${field} empty`]);
    }
  });

  it('have a path from the batch down when they are at fault in an item', async () => {
    const client = await aReadyClient(service);
    const items = [
      anEvent(),
      anEvent(),
      anEvent(),
      anEvent({ source: undefined, [time]: 'x', colour: 1, 'odd key': 1 }),
    ];
    const { body } = await client.post(batchPath, { items });
    expect(faultsOf(body.results[3]).sort()).toEqual([
      'items[3].colour unknown_field',
      `items[3].${time} format`,
      'items[3].source required',
      'items[3]["odd key"] unknown_field',
    ]);
  });

  it('take null in an optional field for absent', async () => {
    const client = await aReadyClient(service);
    const event = await storedEvent(client, await client.post(path, anEventWith(null, { [time]: null })));
    expect(event.properties).toEqual({});
    expect(event.occurredAt).toBe(event.receivedAt);
    expect(await reviewEntries(client)).toEqual([]);
  });

  it('default to the time of receipt when they name no time', async () => {
    const client = await aReadyClient(service);
    const [single, batch] = [
      await client.post(path, anEvent({ [time]: undefined })),
      await client.post(batchPath, { items: [anEvent({ [time]: undefined })] }),
    ];
    for (const body of [single.body, batch.body.results[0]]) {
      const event = await storedEvent(client, { ...single, body });
      expect(event.occurredAt).toBe(event.receivedAt);
      expect(Math.abs(Date.parse(event.receivedAt) - Date.now())).toBeLessThan(HOUR_MS);
    }
  });

  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04Z', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02T03:04:05.678901234Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T01:04:05+02:00', '2026-01-01T23:04:05.000Z'],
    ['2026-01-02T20:04:05-05:30', '2026-01-03T01:34:05.000Z'],
    ['2026-01-02T03:04:05+0200', '2026-01-02T01:04:05.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['1969-07-20T20:17:40Z', '1969-07-20T20:17:40.000Z'],
  ])('take the time %s and give it back as %s', async (sent, shown) => {
    const client = await aReadyClient(service);
    const event = await storedEvent(client, await client.post(path, anEvent({ [time]: sent })));
    expect(event.occurredAt).toBe(shown);
  });

  it.each([
    ['2026-01-02T03:04:05', 'missing_offset'],
    ['2026-01-02T03:04', 'missing_offset'],
    ['2026-01-02', 'format'],
    ['2026-02-30T00:00:00Z', 'format'],
    ['2025-02-29T00:00:00Z', 'format'],
    ['2026-13-01T00:00:00Z', 'format'],
    ['2026-01-02T25:00:00Z', 'format'],
    ['2026-01-02T03:60:05Z', 'format'],
    ['2026-01-02T03:04:05+24:00', 'format'],
    ['Fri, 02 Jan 2026 03:04:05 GMT', 'format'],
    ['1767323045', 'format'],
    ['', 'format'],
    [1_767_323_045_000, 'type'],
    [{}, 'type'],
  ])('refuse the time %j', async (sent, code) => {
    const client = await aReadyClient(service);
    expectProblem(await client.post(path, anEvent({ [time]: sent })), 422, 'validation_failed', [`${time} ${code}`]);
  });

  it('may lie 24 hours ahead; beyond that they are accepted with a clock_skew warning', async () => {
    const client = await aReadyClient(service);
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    expect((await client.post(path, anEvent({ [time]: at(24 * HOUR_MS - 60_000) }))).status).toBe(202);
    expect(await reviewEntries(client)).toEqual([]);
    const ahead = anEvent({ [time]: at(24 * HOUR_MS + 60_000) });
    const answer = await client.post(path, ahead);
    expect(answer.status).toBe(202);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'warning',
      reason: 'clock_skew',
      externalEventId: ahead[id],
      eventId: answer.body.event_id,
    });
  });

  it('are refused with a source that the key may not send, before any other fault, and kept', async () => {
    const workspace = await aWorkspace(service);
    await registerTypes(workspace.admin);
    const client = await workspace.client({
      scopes: ['external-events:write', 'cdp-events:write'],
      sources: ['shop.orders'],
    });
    expect((await client.post(path, anEvent())).status).toBe(202);
    const foreign = anEvent({ source: 'crm.contacts', identity: {}, [properties]: [] });
    const answer = await client.post(path, foreign);
    expectProblem(answer, 403, 'source_not_allowed', ['source source_not_allowed']);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await theReviewEntry(workspace.admin)).toMatchObject({
      severity: 'error',
      stage: 'authorization',
      reason: 'source_not_allowed',
      source: 'crm.contacts',
      externalEventId: foreign[id],
    });
    expectProblem(await client.post(path, anEvent({ source: undefined })), 422, 'validation_failed', [
      'source required',
    ]);
  });
});
