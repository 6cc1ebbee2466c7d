import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { ErasuresService } from '../../src/cdp/customers/erasures.service';
import { CustomerErasure } from '../../src/identity/customer-erasure';
import { CustomerReader } from '../../src/identity/customer-reader';
import type { Identifier } from '../../src/identity/domain/identifier';
import { IdentityService } from '../../src/identity/identity.service';
import { MergesService } from '../../src/identity/merges.service';
import { HOLD_PROFILES } from '../../src/identity/profile.sql';
import type { EventFields } from '../../src/ingest/domain/event';
import { EventSubscriptions } from '../../src/ingest/store/event-subscriptions';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { CONNECTION_SETTINGS } from '../../src/platform/postgres/connection-settings';
import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { ReviewResolutions } from '../../src/review/review-resolutions';
import { ReviewService } from '../../src/review/review.service';
import { freshDatabaseUrl, rowsOf, waitingForLocks, withClient } from '../support/database';
import { aCaller, device, email, external, naming, outcomesOf, startNode } from '../support/ingest';
import { largeEntries } from '../support/review';
import { brokenRules } from '../support/sound-customers';
import { aTenant } from '../support/tenant';
import { placesOf } from '../support/traces';
import { until } from '../support/until';

/*
 * Persons are erased while events that name them are stored for other customers (docs/adr/0026).
 */

const ENVIRONMENT = { SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };

let url: string;
let slow: INestApplicationContext;
let quick: INestApplicationContext;
/** What happens between the look of the slow node at a batch and what it stores, once. */
let between: () => Promise<unknown> = () => Promise.resolve();
let tenantId: string;
let mark: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('erasure_races');
  slow = await startNode(url, ENVIRONMENT);
  quick = await startNode(url, ENVIRONMENT);
  const subscriptions = slow.get(EventSubscriptions);
  const look = subscriptions.of.bind(subscriptions);
  jest.spyOn(subscriptions, 'of').mockImplementation(async (...asked) => {
    const happen = between;
    between = () => Promise.resolve();
    await happen();
    return look(...asked);
  });
});

beforeEach(async () => {
  ({ tenantId } = await aTenant(url));
  mark = randomUUID().slice(0, 8);
});

afterAll(() => Promise.all([slow, quick].map((node) => node.close())));

const take = (node: INestApplicationContext, ...events: ReturnType<typeof naming>[]): Promise<string[]> =>
  outcomesOf(node.get(IngestPipeline), aCaller(tenantId), events);

const customerOf = async (identifier: Identifier) =>
  (await quick.get(CustomerReader).findByIdentifier(tenantId, identifier)) ?? undefined;

async function erase(identifier: Identifier, node = quick): Promise<void> {
  const customer = await customerOf(identifier);
  if (customer !== undefined) await node.get(ErasuresService).erase(aCaller(tenantId), customer.rootId, null);
}

async function undoMerges(identifier: Identifier): Promise<void> {
  const customer = await customerOf(identifier);
  const { rows } = await quick.get(MergesService).list(tenantId, customer?.profileIds ?? [], LAST_ID, 100);
  for (const { id } of rows) await quick.get(MergesService).undo(tenantId, id);
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

describe('an event of another customer that names a person', () => {
  it('is refused where the person is erased behind its look', async () => {
    const [owner, mail] = [external(`owner-${mark}`), email(`${mark}@x.de`)];
    await take(quick, naming(owner), naming(external(`person-${mark}`), mail));
    between = () => erase(mail);
    expect(await take(slow, naming(owner, mail))).toEqual(['profile_erased']);
    expect(await placesOf(url, [mail.value])).toEqual([]);
    expect(await take(slow, naming(owner))).toEqual(['accepted']);
  });

  it('is refused where an undo separates the person and an erasure follows behind its look', async () => {
    const [owner, mail] = [external(`owner-${mark}`), email(`${mark}@x.de`)];
    await take(quick, naming(owner), naming(mail), naming(owner, mail));
    between = async () => {
      await undoMerges(owner);
      await erase(mail);
    };
    expect(await take(slow, naming(owner, mail))).toEqual(['profile_erased']);
    expect(await placesOf(url, [mail.value])).toEqual([]);
    expect(await take(slow, naming(owner))).toEqual(['accepted']);
  });

  it('is waited for where it holds the person already, and loses what names the person', async () => {
    const [owner, mail] = [external(`owner-${mark}`), email(`${mark}@x.de`)];
    await take(quick, naming(owner), naming(external(`person-${mark}`), mail));
    const profiles = await Promise.all([owner, mail].map(async (each) => (await customerOf(each))!.rootId));
    const [profileId, personId] = profiles;
    await withClient(url, async (sender) => {
      await sender.query('BEGIN');
      await sender.query(HOLD_PROFILES.text, [profiles.map(() => tenantId), profiles.toSorted()]);
      const erasing = quick.get(ErasuresService).erase(aCaller(tenantId), personId!, null);
      await until(async () => (await waitingForLocks(url)) > 0);
      await sender.query(
        `INSERT INTO events SELECT tenant_id, gen_random_uuid(), 'cdp', source, 'late', event_type, event_type_version,
           occurred_at, received_at, profile_id, jsonb_build_object('externalUserId', 'kept', 'email', $3::text), properties,
           '\\x01', batch_id
         FROM events WHERE tenant_id = $1 AND profile_id = $2`,
        [tenantId, profileId, mail.value],
      );
      await sender.query(
        `INSERT INTO unlinked_identifiers SELECT tenant_id, 'EMAIL', $2, event_id FROM events
         WHERE tenant_id = $1 AND external_event_id = 'late'`,
        [tenantId, mail.value],
      );
      await sender.query('COMMIT');
      await erasing;
    });
    const late = `SELECT identity FROM events WHERE tenant_id = $1 AND external_event_id = 'late'`;
    expect(await rowsOf(url, late, [tenantId])).toEqual([{ identity: { externalUserId: 'kept' } }]);
    expect(await placesOf(url, [mail.value])).toEqual([]);
  });

  it('keeps others from an identifier that it names and nobody owns, until it is stored', async () => {
    const [shared, mail] = [device(`device-${mark}`), email(`late-${mark}@x.de`)];
    await take(quick, ...Array.from({ length: 50 }, (_unused, n) => naming(email(`${n}-${mark}@x.de`), shared)));
    await withClient(url, async (blocker) => {
      await blocker.query('BEGIN');
      // The warning about the event is written last.
      await blocker.query('LOCK TABLE review_entries IN EXCLUSIVE MODE');
      const storing = take(slow, naming(mail, shared));
      await until(() => isHeldBack(mail));
      await blocker.query('COMMIT');
      expect(await storing).toEqual(['accepted']);
    });
    expect(await customerOf(mail)).toBeUndefined();
    await take(quick, naming(external(`person-${mark}`), mail));
    await erase(mail);
    expect(await placesOf(url, [mail.value])).toEqual([]);
  });

  /** Whether another transaction would have to wait before it gives an identifier to somebody. */
  const isHeldBack = (identifier: Identifier): Promise<boolean> =>
    withClient(url, async (other) => {
      await other.query('BEGIN');
      await other.query(`SET LOCAL lock_timeout = '20ms'`);
      return other
        .query('INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id) VALUES ($1, $2, $3, $4)', [
          ...[tenantId, identifier.kind, identifier.value, randomUUID()],
        ])
        .then(
          () => false,
          (error: unknown) => (error as { code?: string }).code === '55P03',
        );
    });
});

describe('a copy that says something else than the stored event', () => {
  /** The erasure begins behind the look at who is erased, and before the commit of the warning. */
  async function copyDuringErasure(copy: ReturnType<typeof naming>, person: Identifier): Promise<void> {
    const review = slow.get(ReviewService);
    const record = review.recordWithin.bind(review);
    let erasing = Promise.resolve();
    const spy = jest.spyOn(review, 'recordWithin').mockImplementationOnce((transaction, problems) => {
      transaction.beforeCommit(async () => {
        erasing = erase(person);
        // An erasure that waits for nobody ends before the commit.
        await Promise.race([erasing, until(async () => (await waitingForLocks(url)) > 0)]);
      });
      record(transaction, problems);
    });
    expect(await take(slow, copy)).toEqual(['duplicate']);
    spy.mockRestore();
    await erasing;
  }

  it('leaves nothing of a person whom it names, when that person is erased meanwhile', async () => {
    const [owner, mail] = [external(`owner-${mark}`), email(`${mark}@x.de`)];
    const original = naming(owner);
    await take(quick, original, naming(external(`person-${mark}`), mail));
    await copyDuringErasure(copyOf(original, naming(mail)), mail);
    expect(await placesOf(url, [mail.value])).toEqual([]);
  });

  it('leaves nothing of the person whose event it repeats, when that person is erased meanwhile', async () => {
    const original = naming(external(`person-${mark}`));
    await take(quick, original);
    const says = `words-${mark}`;
    await copyDuringErasure(copyOf(original, naming(device(says))), external(`person-${mark}`));
    expect(await placesOf(url, [says])).toEqual([]);
  });

  it('leaves nothing of the person whose event it repeats in another form, when that person is erased meanwhile', async () => {
    const [person, says] = [external(`person-${mark}`), `words-${mark}`];
    const original = naming(person);
    await take(quick, original);
    const review = slow.get(ReviewService);
    const record = review.record.bind(review);
    const spy = jest.spyOn(review, 'record').mockImplementationOnce(async (...asked) => {
      await erase(person);
      return record(...asked);
    });
    const { identifiers: _identifiers, ...malformed } = copyOf(original, naming()).value as EventFields;
    const value = { ...malformed, properties: { says } };
    const copy = { ...original, value, text: () => JSON.stringify(value) };
    expect(await take(slow, copy)).toEqual(['duplicate']);
    spy.mockRestore();
    expect(await placesOf(url, [says])).toEqual([]);
  });

  /** An event under the id of another one. */
  const copyOf = (original: ReturnType<typeof naming>, event: ReturnType<typeof naming>): ReturnType<typeof naming> => {
    const { source, externalEventId } = original.value as EventFields;
    const value = { ...(event.value as EventFields), source, externalEventId };
    return { ...event, value, text: () => JSON.stringify(value) };
  };
});

describe('a note about the person', () => {
  it('is found in an entry that somebody dismisses behind the search', async () => {
    const person = external(`person-${mark}`);
    await take(quick, naming(person));
    const id = randomUUID();
    await largeEntries(url, tenantId, [id, randomUUID()]);
    const customers = quick.get(CustomerErasure);
    const finish = customers.finish.bind(customers);
    const spy = jest.spyOn(customers, 'finish').mockImplementationOnce(async (...asked) => {
      const at = new Date().toISOString();
      const note = `userId: ${person.value}`;
      await slow.get(ReviewResolutions).dismiss(tenantId, id, { action: 'dismissed', at, by: 'test', note });
      return finish(...asked);
    });
    await erase(person);
    spy.mockRestore();
    expect(await placesOf(url, [person.value])).toEqual([]);
  });
});

describe('the erasure of a customer whose merge is being undone', () => {
  it('erases the side with the profile that was asked for, and nobody else', async () => {
    const [owner, mail] = [external(`owner-${mark}`), email(`${mark}@x.de`)];
    await take(quick, naming(owner), naming(mail), naming(owner, mail));
    const { rootId, profileIds } = (await customerOf(owner))!;
    const [mailId] = profileIds.filter((id) => id !== rootId);
    await withClient(url, async (blocker) => {
      await blocker.query('BEGIN');
      await blocker.query('SELECT 1 FROM profiles WHERE profile_id = $1 FOR UPDATE', [rootId]);
      const undoing = undoMerges(owner);
      await until(async () => (await waitingForLocks(url)) === 1);
      const erasing = slow.get(ErasuresService).erase(aCaller(tenantId), mailId!, null);
      await until(async () => (await waitingForLocks(url)) === 2);
      await blocker.query('COMMIT');
      await Promise.all([undoing, erasing]);
    });
    expect(await customerOf(mail)).toBeUndefined();
    expect(await placesOf(url, [mail.value])).toEqual([]);
    expect(await customerOf(owner)).toMatchObject({ rootId, profileIds: [rootId], identifiers: [owner] });
    expect(await take(slow, naming(owner))).toEqual(['accepted']);
  });
});

describe('a customer whose merge with an erased person was undone', () => {
  it('counts as living for a worker whose look is older and waited for another lock', async () => {
    const [other, person, mail] = [external(`other-${mark}`), external(`person-${mark}`), email(`${mark}@x.de`)];
    await take(quick, naming(other), naming(person), naming(mail), naming(person, mail));
    const [otherId, personId] = [(await customerOf(other))!.rootId, (await customerOf(person))!.rootId];
    const [mailId] = (await customerOf(mail))!.profileIds.filter((id) => id !== personId);
    const worker = new PipelinedConnection(slow.get(CONNECTION_SETTINGS), WORKER);
    await withClient(url, async (blocker) => {
      await blocker.query('BEGIN');
      await blocker.query('SELECT 1 FROM profiles WHERE profile_id = $1 FOR UPDATE', [otherId]);
      const holding = worker.transaction((transaction) =>
        slow.get(IdentityService).holdCustomers(transaction, tenantId, [otherId, mailId!]),
      );
      await until(async () => (await waitingForLocks(url)) > 0);
      await undoMerges(person);
      await erase(person);
      await blocker.query('COMMIT');
      const held = await holding;
      expect([held.get(mailId!), held.get(otherId)]).toMatchObject([
        { rootId: mailId, isErased: false, externalId: null, profileIds: [mailId] },
        { rootId: otherId, isErased: false },
      ]);
    });
    await worker.close();
  });

  const WORKER = { applicationName: 'cds-test', lockTimeoutMs: 10_000, statementTimeoutMs: 10_000 };
});

describe('an erasure that was killed while it looked at events of others', () => {
  it('goes on where it was, on any node', async () => {
    const [owner, mail] = [external(`owner-${mark}`), email(`${mark}@x.de`)];
    await take(quick, naming(owner), naming(mail), naming(owner, mail), naming(owner, mail));
    await undoMerges(owner);
    const { rootId } = (await customerOf(mail))!;
    const customers = slow.get(CustomerErasure);
    const customer = (await customers.begin(tenantId, rootId, { by: 'test', address: null }))!;
    const steps = (await customers.steps(customer.erasure))!;
    const ofEvents = customers.stepsOf(customer.erasure, steps, 'events_of_others', new AbortController().signal);
    const [first, second] = await rowsOf<{ lookedAt: object; eventId: string }>(
      url,
      `SELECT json_build_object('profileId', profile_id, 'occurredAt', occurred_at::text, 'eventId', event_id) AS "lookedAt",
         event_id AS "eventId"
       FROM events WHERE tenant_id = $1 AND identity ? 'email' AND identity ? 'externalUserId' ORDER BY occurred_at, event_id`,
      [tenantId],
    );
    await until(async () => {
      await ofEvents.done(JSON.stringify({ lookedAt: first!.lookedAt }));
      return (await customers.steps(customer.erasure))!.positions['events_of_others'] !== undefined;
    });
    await quick.get(ErasuresService).erase(aCaller(tenantId), rootId, null);
    const left = `SELECT event_id AS "eventId", identity ? 'email' AS named FROM events
      WHERE tenant_id = $1 AND event_id = ANY ($2) ORDER BY occurred_at, event_id`;
    const ids = [first!.eventId, second!.eventId];
    // The first one was passed over, since it was said to be looked at.
    expect(await rowsOf(url, left, [tenantId, ids])).toEqual([
      { eventId: first!.eventId, named: true },
      { eventId: second!.eventId, named: false },
    ]);
  });
});

describe('erasing persons whom events of each other name, on two nodes', () => {
  const PERSONS = 12;
  const EVENTS = 2_000;
  const SENDERS = 6;
  const BATCH = 10;
  const pick = (count: number): number => Math.floor(Math.random() * count);

  it('leaves no identifier that nobody has any more, and breaks no customer', async () => {
    const nodes = [slow, quick];
    const nameOf = (person: number): string => `${mark}p${String(person).padStart(2, '0')}`;
    const identifiersOf = (person: number): [Identifier, Identifier, Identifier] => [
      external(`${nameOf(person)}x`),
      email(`${nameOf(person)}m@x.de`),
      device(`${nameOf(person)}d`),
    ];
    const all = Array.from({ length: PERSONS }, (_unused, person) => identifiersOf(person)).flat();
    const outcomes: string[] = [];
    let erased = 0;
    let undone = 0;
    let lifted = 0;
    const goesOn = (): boolean => outcomes.length < EVENTS || erased < PERSONS || undone < 5 || lifted === 0;
    const senders = Array.from({ length: SENDERS }, async (_unused, place) => {
      while (goesOn()) {
        const events = Array.from({ length: BATCH }, () => {
          const [own, others] = [pick(PERSONS), pick(PERSONS)];
          const [who] = identifiersOf(own);
          const [, mail, tool] = identifiersOf(Math.random() < 0.5 ? own : others);
          // A customer without an EXTERNAL identifier, which may merge later.
          if (Math.random() < 0.3) return naming(Math.random() < 0.5 ? mail : tool);
          return naming(who, ...[mail, tool].filter(() => Math.random() < 0.5));
        });
        outcomes.push(...(await take(nodes[place % 2]!, ...events)));
      }
    });
    const erasers = nodes.map(async (node) => {
      while (goesOn()) {
        const identifier = all[pick(all.length)]!;
        if ((await customerOf(identifier)) === undefined) {
          lifted += await node.get(CustomerErasure).lift(tenantId, identifier, { by: 'test', address: null });
        } else {
          await erase(identifier, node);
          erased += 1;
        }
      }
    });
    const undoer = async (): Promise<void> => {
      while (goesOn()) {
        const [merge] = await rowsOf<{ id: string }>(
          url,
          'SELECT id FROM profile_merges WHERE tenant_id = $1 AND undone_at IS NULL ORDER BY random() LIMIT 1',
          [tenantId],
        );
        const undo = async (id: string): Promise<void> => {
          await quick.get(MergesService).undo(tenantId, id);
          undone += 1;
        };
        if (merge !== undefined) {
          await undo(merge.id).catch((error: unknown) => expect(error).toMatchObject({ code: 'not_found' }));
        }
      }
    };
    await Promise.all([...senders, ...erasers, undoer()]);

    expect(new Set(outcomes)).toEqual(new Set(['accepted', 'profile_erased']));
    expect((await brokenRules(url, tenantId)).filter((rule) => !rule.startsWith('an undone merge'))).toEqual([]);
    for (const identifier of all) {
      if ((await customerOf(identifier)) === undefined) expect(await placesOf(url, [identifier.value])).toEqual([]);
    }
    // And then everybody goes.
    for (const identifier of all) await erase(identifier);
    expect(await placesOf(url, [mark])).toEqual([]);
  });
});
