import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { ErasuresService } from '../../src/cdp/customers/erasures.service';
import { CustomerErasure } from '../../src/identity/customer-erasure';
import { CustomerReader } from '../../src/identity/customer-reader';
import type { Identifier } from '../../src/identity/domain/identifier';
import type { EventFields } from '../../src/ingest/domain/event';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { ReviewService } from '../../src/review/review.service';
import { freshDatabaseUrl, rowsOf, waitingForLocks, withClient } from '../support/database';
import { aCaller, email, external, naming, outcomesOf, startNode } from '../support/ingest';
import { largeEntries } from '../support/review';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

/*
 * What the review area keeps of persons who are erased while entries are written (docs/adr/0026, 0041).
 */

const ENVIRONMENT = { SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
const DAY_MS = 24 * 60 * 60 * 1_000;

let url: string;
let slow: INestApplicationContext;
let quick: INestApplicationContext;
let tenantId: string;
let mark: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('erasure_review');
  slow = await startNode(url, ENVIRONMENT);
  quick = await startNode(url, ENVIRONMENT);
});
beforeEach(async () => {
  ({ tenantId } = await aTenant(url));
  mark = randomUUID().slice(0, 8);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => Promise.all([slow, quick].map((node) => node.close())));

const take = (node: INestApplicationContext, ...events: ReturnType<typeof naming>[]): Promise<string[]> =>
  outcomesOf(node.get(IngestPipeline), aCaller(tenantId), events);

async function erase(identifier: Identifier): Promise<void> {
  const customer = await quick.get(CustomerReader).findByIdentifier(tenantId, identifier);
  await quick.get(ErasuresService).erase(aCaller(tenantId), customer!.rootId, null);
}

const entriesWith = (text: string) =>
  rowsOf<{ reason: string }>(
    url,
    'SELECT reason FROM review_entries WHERE tenant_id = $1 AND strpos(payload, $2) > 0',
    [tenantId, text],
  );

describe('a replay that is under way while a person is erased', () => {
  /** An event whose link is refused, and whose properties say the address of somebody else; first received at this time. */
  async function replayDuringErasure(receivedAt: number): Promise<void> {
    const [owner, other] = [external(`owner-${mark}`), email(`other-${mark}@x.de`)];
    const person = email(`person-${mark}@x.de`);
    await take(quick, naming(owner), naming(external(`another-${mark}`), other), naming(person));
    await largeEntries(url, tenantId);
    const event = naming(owner, other);
    const value = { ...(event.value as EventFields), properties: { says: person.value } };
    const attempt = { action: 'replayed', at: new Date().toISOString(), by: 'test' } as const;
    // What the replay has read of its entry before the erasure began.
    const submission = {
      ...event,
      value,
      text: () => JSON.stringify(value),
      replay: { entryId: randomUUID(), attempt, receivedAt },
    };
    const customers = quick.get(CustomerErasure);
    const finish = customers.finish.bind(customers);
    jest.spyOn(customers, 'finish').mockImplementationOnce(async (...asked) => {
      const result = await slow.get(IngestPipeline).ingestOne(aCaller(tenantId), submission, 'replay');
      expect(result).toMatchObject({ status: 'accepted', warnings: ['identity_link_refused'] });
      expect(await entriesWith(person.value)).toHaveLength(1);
      return finish(...asked);
    });
    await erase(person);
    expect(await entriesWith(person.value)).toEqual([]);
  }

  it('leaves no warning that names the person, of an event that was received today', () =>
    replayDuringErasure(Date.now()));

  it('leaves no warning that names the person, of an event that was first received days ago', () =>
    replayDuringErasure(Date.now() - 3 * DAY_MS));
});

describe('an entry about an event that is sent again while an erasure searches', () => {
  it('keeps the payload that names the person no more', async () => {
    const [owner, person] = [external(`owner-${mark}`), email(`person-${mark}@x.de`)];
    await take(quick, naming(owner), naming(person));
    const id = randomUUID();
    const payloadOf = (mail: string): string => JSON.stringify({ identity: { email: mail }, occurredAt: 'yesterday' });
    await rowsOf(
      url,
      `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, source,
         external_event_id, event_id, payload, payload_form, occurrences, first_seen_at, last_seen_at, status)
       VALUES ($1, $2, 'error', 'validation', 'invalid_timestamp', 'm', '[]', 'cdp', 'shop', 'order-1', gen_random_uuid(), $3,
         'json', 1, now(), now(), 'open')`,
      [tenantId, id, payloadOf(person.value)],
    );
    await withClient(url, async (sender) => {
      // As WRITE_ENTRIES does it: the sender has put the right address into the event, which is refused again.
      await sender.query('BEGIN');
      await sender.query(
        `UPDATE review_entries SET payload = $3, occurrences = 2, last_seen_at = clock_timestamp() WHERE tenant_id = $1 AND id = $2`,
        [tenantId, id, payloadOf(`right-${mark}@x.de`)],
      );
      const erasing = erase(person);
      await until(async () => (await waitingForLocks(url)) > 0);
      await sender.query('COMMIT');
      await erasing;
    });
    expect(await entriesWith(person.value)).toEqual([]);
    expect(await entriesWith(`right-${mark}@x.de`)).toHaveLength(1);
  });
});

describe('a refusal that names a person who is erased behind its look', () => {
  it('takes nothing from a later refusal of the same event, which names somebody else', async () => {
    const [person, right] = [email(`person-${mark}@x.de`), email(`right-${mark}@x.de`)];
    await take(quick, naming(person));
    const refused = (...identifiers: Identifier[]): ReturnType<typeof naming> => {
      const event = naming(...identifiers);
      const { identifiers: _identifiers, ...malformed } = event.value as EventFields;
      const value = { ...malformed, source: 'shop', externalEventId: 'order-1' };
      return { ...event, value, text: () => JSON.stringify(value) };
    };
    const review = slow.get(ReviewService);
    const record = review.record.bind(review);
    jest.spyOn(review, 'record').mockImplementationOnce(async (...asked) => {
      await record(...asked);
      await erase(person);
      expect(await take(quick, refused(right))).toEqual(['validation_failed']);
      expect(await entriesWith(right.value)).toHaveLength(1);
    });
    expect(await take(slow, refused(person))).toEqual(['validation_failed']);
    expect(await entriesWith(person.value)).toEqual([]);
    expect(await entriesWith(right.value)).toHaveLength(1);
  });
});
