import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, INGEST_FAMILIES, registerTypes } from '../support/builders';
import { aReadyClient, aWorkspace, type Client, reviewEntries, storedEvent, theReviewEntry } from '../support/client';
import { reopen } from '../support/review';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

describe.each(INGEST_FAMILIES)('what the review area keeps of the $family family', (ingest) => {
  const { family, path, batchPath, anEvent, anEventWith, anIdentity, id, type, time, properties } = ingest;

  it.each([
    ['a missing field', { source: undefined, identity: {} }, 'validation', 'required'],
    ['an unknown field', { colour: 'red' }, 'validation', 'unknown_field'],
    ['a time without offset', { [time]: '2026-01-02T03:04:05' }, 'validation', 'missing_offset'],
    ['a placeholder', { identity: anIdentity('EXTERNAL', 'guest') }, 'validation', 'placeholder_identity'],
    ['text that cannot be stored', { identity: anIdentity('EXTERNAL', 'a\u0000') }, 'validation', 'invalid_characters'],
    ['properties that are no object', { [properties]: 'x' }, undefined, 'type'],
  ])('is an event with %s, single or in a batch, when the answer arrives', async (_what, fields, stage, reason) => {
    const client = await aReadyClient(service);
    const [single, item] = [anEvent(fields), anEvent(fields)];
    await client.post(path, single);
    const [first] = await reviewEntries(client);
    await client.post(batchPath, { items: [anEvent(), item] });
    const [second] = await reviewEntries(client);
    for (const [entry, event] of [
      [first, single],
      [second, item],
    ] as const) {
      expect(entry).toMatchObject({
        severity: 'error',
        reason,
        family,
        occurrences: 1,
        status: 'open',
        resolution: null,
      });
      expect(entry).toMatchObject({
        externalEventId: event[id],
        eventType: event[type],
        message: expect.stringMatching(/\S/),
      });
      if (stage !== undefined) expect(entry.stage).toBe(stage);
      expect(entry.details[0].code).toBe(reason);
      expect(entry.payload[id]).toBe(event[id]);
    }
  });

  it.each([
    ['malformed JSON', '{"source":', 'malformed_json'],
    ['a body of another JSON type', '[]', 'type'],
    ['a body over its limit', ' '.repeat(256 * 1024 + 1), 'payload_too_large'],
  ])('is %s', async (_what, text, reason) => {
    const client = await aReadyClient(service);
    await client.send(path, text);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'error',
      reason,
      family,
      occurrences: 1,
      status: 'open',
      source: null,
    });
  });

  it('is the whole envelope of a batch that is refused as such', async () => {
    const client = await aReadyClient(service);
    const events = [anEvent(), anEvent()];
    await client.post(batchPath, { items: events, colour: 'red' });
    const { payload, ...entry } = await theReviewEntry(client);
    expect(entry).toMatchObject({ stage: 'request', reason: 'unknown_field', family });
    expect(payload.items.map((item: any) => item[id])).toEqual(events.map((event) => event[id]));
  });

  it('is one entry with a count for what is refused again for the same reason', async () => {
    const client = await aReadyClient(service);
    const event = anEvent({ identity: {} });
    await client.post(path, event);
    const first = await theReviewEntry(client);
    await client.post(batchPath, { items: [event, anEvent(), { ...event, [properties]: null }] });
    await Promise.all(Array.from({ length: 20 }, () => client.post(path, event)));
    const last = await theReviewEntry(client);
    expect(last).toMatchObject({ id: first.id, occurrences: 23, firstSeenAt: first.firstSeenAt });
    expect(last.lastSeenAt > first.lastSeenAt).toBe(true);
  });

  it('is an entry of its own for another reason, another id and another source', async () => {
    const client = await aReadyClient(service);
    const event = anEvent();
    for (const fields of [
      { [time]: 'x' },
      { colour: 1 },
      { [time]: 'x', [id]: 'another' },
      { [time]: 'x', source: 'another' },
    ]) {
      await client.post(path, { ...event, ...fields });
    }
    const entries = await reviewEntries(client);
    expect(entries.map(({ reason, occurrences }) => `${reason} ${occurrences}`)).toEqual([
      ...['format 1', 'format 1', 'unknown_field 1', 'format 1'],
    ]);
  });

  it('is one entry for the same payload where source or id is missing, and another for another payload', async () => {
    const client = await aReadyClient(service);
    const nameless = anEvent({ [id]: undefined });
    for (const payload of [nameless, nameless, { ...nameless, source: 'another' }]) await client.post(path, payload);
    for (const text of ['{', '{', '{"']) await client.send(path, text);
    const entries = await reviewEntries(client);
    expect(entries.map(({ reason, occurrences }) => `${reason} ${occurrences}`).sort()).toEqual([
      ...['malformed_json 1', 'malformed_json 2', 'required 1', 'required 2'],
    ]);
  });

  it('is closed when the event arrives correctly, single or in a batch, all its entries at once', async () => {
    for (const resend of [
      async (client: Client, event: unknown) => (await client.post(path, event)).body,
      async (client: Client, event: unknown) =>
        (await client.post(batchPath, { items: [anEvent(), event] })).body.results[1],
    ]) {
      const client = await aReadyClient(service);
      const event = anEvent();
      await client.post(path, { ...event, identity: {} });
      await client.post(path, { ...event, [time]: 'x' });
      await client.post(path, anEvent({ identity: {} }));
      const { status, event_id: eventId } = await resend(client, event);
      expect(status).toBe('accepted');
      const closed = await reviewEntries(client, '&status=superseded');
      expect(closed.map(({ externalEventId }) => externalEventId)).toEqual([event[id], event[id]]);
      for (const entry of closed)
        expect(entry).toMatchObject({ eventId, resolution: { outcome: 'accepted', eventId } });
      expect(await reviewEntries(client, '&status=open')).toHaveLength(1);
    }
  });

  it('is closed also by a duplicate, where an event is stored and its refusal is still open', async () => {
    const client = await aReadyClient(service);
    const event = anEvent();
    await client.post(path, { ...event, identity: {} });
    await client.post(path, event);
    await reopen(service.databaseUrl, await theReviewEntry(client));
    expect((await client.post(path, event)).status).toBe(200);
    expect(await theReviewEntry(client)).toMatchObject({ reason: expect.any(String), status: 'superseded' });
  });

  it('is no refusal of a bad copy of a stored event, which is a duplicate that says something else', async () => {
    const client = await aReadyClient(service);
    const event = anEvent();
    await client.post(path, event);
    expect((await client.post(path, { ...event, identity: {} })).status).toBe(200);
    expect(await theReviewEntry(client)).toMatchObject({ severity: 'warning', reason: 'payload_mismatch' });
  });

  it('is closed by the longest of ids, too', async () => {
    const client = await aReadyClient(service);
    const event = anEvent({ [id]: '😀'.repeat(256), source: '😀'.repeat(128) });
    await client.post(path, { ...event, identity: {} });
    expect(await theReviewEntry(client)).toMatchObject({ source: event['source'], externalEventId: event[id] });
    expect((await client.post(path, event)).status).toBe(202);
    expect(await theReviewEntry(client)).toMatchObject({ status: 'superseded' });
  });

  it('is open again when the same thing happens again, with its count going on', async () => {
    const client = await aReadyClient(service);
    const event = anEvent();
    await client.post(path, { ...event, identity: {} });
    const { id } = await theReviewEntry(client);
    expect((await client.post(`/v1/review-entries/${id}:dismiss`, {})).status).toBe(200);
    await client.post(path, { ...event, identity: {} });
    expect(await theReviewEntry(client)).toMatchObject({ status: 'open', occurrences: 2, resolution: null });
  });

  it('is nothing of events that came in right, nor of calls without the credential or the scope', async () => {
    const workspace = await aWorkspace(service);
    await registerTypes(workspace.admin);
    const event = anEvent();
    for (const body of [event, event]) await workspace.admin.post(path, body);
    const other = await workspace.client({ scopes: ['events:read'] });
    await other.post(path, { broken: true });
    await workspace.admin.send(path, 'x', { headers: { 'content-type': 'text/plain' } });
    expect(await reviewEntries(workspace.admin)).toEqual([]);
  });

  it('is a warning of its own beside the event that it is about, and none of them is closed by a repetition', async () => {
    const client = await aReadyClient(service);
    const event = anEventWith({ amount: 1 }, { [time]: '2999-01-01T00:00:00Z' });
    const answer = await client.post(path, event);
    for (let copy = 0; copy < 3; copy += 1) await client.post(path, { ...event, [properties]: { amount: 2 } });
    await client.post(path, event);
    const entries = await reviewEntries(client);
    expect(entries.map(({ reason, occurrences, status }) => `${reason} ${occurrences} ${status}`).sort()).toEqual([
      ...['clock_skew 1 open', 'payload_mismatch 3 open'],
    ]);
    const { eventId } = await storedEvent(client, answer);
    for (const entry of entries) expect(entry).toMatchObject({ severity: 'warning', eventId });
  });
});

describe('what the review area keeps of the CDP contract', () => {
  it.each([
    ['an unregistered type', { eventType: 'refund' }, 'unregistered_event_type'],
    ['a missing property', { properties: {} }, 'required'],
    ['a property of another type', { properties: { amount: '1' } }, 'type'],
    ['a property that is none of its values', { properties: { amount: 1, currency: 'GBP' } }, 'enum'],
    ['an undeclared property', { properties: { amount: 1, colour: 'red' } }, 'unknown_property'],
  ])('is, at the stage contract, an event with %s', async (_what, fields, reason) => {
    const client = await aReadyClient(service);
    const event = aCdpEvent(fields);
    await client.post('/v1/cdp/events', event);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'error',
      stage: 'contract',
      reason,
      family: 'cdp',
      status: 'open',
      source: event['source'],
      externalEventId: event['externalEventId'],
      eventType: event['eventType'],
    });
  });
});
