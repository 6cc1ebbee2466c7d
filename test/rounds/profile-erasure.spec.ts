import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ErasuresService } from '../../src/cdp/customers/erasures.service';
import { ProfileExport } from '../../src/cdp/customers/profile-export';
import { CustomerErasure } from '../../src/identity/customer-erasure';
import { CustomerReader } from '../../src/identity/customer-reader';
import type { Identifier } from '../../src/identity/domain/identifier';
import { MergesService } from '../../src/identity/merges.service';
import { HOLD_PROFILES } from '../../src/identity/profile.sql';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { Jobs } from '../../src/platform/jobs/jobs';
import { Readiness } from '../../src/platform/health/readiness';
import { SecretBox } from '../../src/platform/secrets/secret-box';
import { MAX_UUID } from '../../src/platform/values/uuid';
import { freshDatabaseUrl, rowsOf, waitingForLocks, withClient } from '../support/database';
import { aCaller, aSubmission, device, email, external, startNode } from '../support/ingest';
import { refuseWrites } from '../support/refused-writes';
import { brokenRules } from '../support/sound-customers';
import { aTenant } from '../support/tenant';
import { placesOf } from '../support/traces';
import { until } from '../support/until';

const ENVIRONMENT = { SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
const PERSONS = 24;
const EVENTS = 3_000;
const SENDERS = 8;
const BATCH = 10;

const pick = (count: number): number => Math.floor(Math.random() * count);

let url: string;
let nodes: INestApplicationContext[];

beforeAll(async () => {
  url = await freshDatabaseUrl('erasure');
  nodes = [await startNode(url, ENVIRONMENT), await startNode(url, ENVIRONMENT)];
});

afterAll(async () => {
  for (const node of nodes) await node.close();
});

const of = <T>(place: number, type: abstract new (...args: never[]) => T): T => nodes[place % 2]!.get(type as never);

const query = (text: string, values: unknown[]) => rowsOf<Record<string, any>>(url, text, values);

/** An event that has the mark of its person wherever a person can be named. */
function eventOf(mark: string, identifiers: readonly Identifier[]) {
  const identity = { value: identifiers.map(({ value }) => value).join(' ') };
  return aSubmission({ identifiers, identity, properties: { note: `note of ${mark}` } });
}

const send = async (place: number, tenantId: string, ...events: ReturnType<typeof eventOf>[]): Promise<string[]> => {
  const results = await of(place, IngestPipeline).ingest(aCaller(tenantId), events, 'live');
  return results.map((result) => (result.status === 'error' ? result.refusal.code : result.status));
};

const unfinishedOf = (tenantId: string) =>
  query('SELECT 1 FROM erasures WHERE tenant_id = $1 AND finished_at IS NULL', [tenantId]);

describe('erasing persons while their events come in on two nodes', () => {
  it('leaves nothing of them, breaks no customer, and loses no event of anybody', async () => {
    const { tenantId } = await aTenant(url);
    const run = randomUUID().slice(0, 8);
    const markOf = (person: number): string => `${run}-p${person}-`;
    const identifiersOf = (person: number): Identifier[] => [
      external(`${markOf(person)}x`),
      email(`${markOf(person)}m@x.de`),
      device(`${markOf(person)}d`),
    ];
    const outcomes: string[] = [];
    const erased: number[] = [];
    let lifted = 0;
    // However fast the machine is: enough of both has met.
    const goesOn = (): boolean => outcomes.length < EVENTS || erased.length <= PERSONS || lifted === 0;
    const senders = Array.from({ length: SENDERS }, async (_unused, place) => {
      while (goesOn()) {
        const events = Array.from({ length: BATCH }, () => {
          const person = pick(PERSONS);
          const some = identifiersOf(person).filter(() => Math.random() < 0.6);
          return eventOf(markOf(person), some.length > 0 ? some : identifiersOf(person));
        });
        outcomes.push(...(await send(place, tenantId, ...events)));
      }
    });
    const erasers = [0, 1, 2].map(async (place) => {
      while (goesOn()) {
        const person = pick(PERSONS);
        const customer = await of(place, CustomerReader).findByIdentifier(tenantId, identifiersOf(person)[pick(3)]!);
        if (customer === null)
          await of(place, CustomerErasure)
            .lift(tenantId, identifiersOf(person)[0]!, { by: 'test', address: null })
            .then((n) => (lifted += n));
        else {
          // Both nodes at the same time.
          await Promise.all(
            [0, 1].map((node) => of(node, ErasuresService).erase(aCaller(tenantId), customer.rootId, null)),
          );
          erased.push(person);
        }
      }
    });
    const undoer = async () => {
      while (goesOn()) {
        const [merge] = await query(
          'SELECT id FROM profile_merges WHERE tenant_id = $1 AND undone_at IS NULL ORDER BY random() LIMIT 1',
          [tenantId],
        );
        if (merge !== undefined) await of(0, MergesService).undo(tenantId, merge['id']).catch(expectNotFound);
      }
    };
    await Promise.all([...senders, ...erasers, undoer()]);

    expect(new Set(outcomes)).toEqual(new Set(['accepted', 'profile_erased']));
    expect(await unfinishedOf(tenantId)).toEqual([]);
    const stored = await query('SELECT 1 FROM events WHERE tenant_id = $1', [tenantId]);
    expect(stored).toHaveLength(outcomes.filter((code) => code === 'accepted').length);
    const left = await query(
      `SELECT e.event_id FROM events e JOIN profiles p USING (tenant_id, profile_id)
       WHERE e.tenant_id = $1 AND p.erased_at IS NOT NULL AND (e.identity <> '{}' OR e.properties <> '{}')`,
      [tenantId],
    );
    expect(left).toEqual([]);
    expect((await brokenRules(url, tenantId)).filter((rule) => !rule.startsWith('an undone merge'))).toEqual([]);
    expect(await heldAndErased(tenantId)).toEqual([]);
    // An erased person is nowhere, and stays out.
    for (let person = 0; person < PERSONS; person += 1) {
      const found = await Promise.all(
        identifiersOf(person).map((each) => of(0, CustomerReader).findByIdentifier(tenantId, each)),
      );
      if (found.some((customer) => customer !== null)) continue;
      expect(await placesOf(url, [markOf(person)])).toEqual([]);
    }
  });

  /** Identifiers that somebody holds although they are remembered as an erased person's. */
  async function heldAndErased(tenantId: string): Promise<string[]> {
    const hashes = await query(`SELECT encode(hash, 'hex') AS hash FROM erased_identifiers WHERE tenant_id = $1`, [
      tenantId,
    ]);
    const known = new Set(hashes.map(({ hash }) => hash as string));
    const held = await query('SELECT kind, value FROM profile_identifiers WHERE tenant_id = $1', [tenantId]);
    const box = of(0, SecretBox);
    return held
      .filter(({ kind, value }) => known.has(box.keyedHash([tenantId, kind, value]).toString('hex')))
      .map(({ value }) => value);
  }

  function expectNotFound(error: unknown): void {
    expect(error).toMatchObject({ code: 'not_found' });
  }
});

describe('an erasure whose process was killed behind its first transaction', () => {
  async function aHalfErasedPerson() {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    const identifiers = [external(`x-${mark}`), email(`${mark}@x.de`)];
    expect(await send(0, tenantId, eventOf(mark, identifiers))).toEqual(['accepted']);
    const { rootId } = (await of(0, CustomerReader).findByIdentifier(tenantId, identifiers[0]!))!;
    const customer = await of(0, CustomerErasure).begin(tenantId, rootId, { by: 'test', address: null });
    return { tenantId, mark, identifiers, rootId, customer };
  }

  it('takes no event of the person any more, on either node', async () => {
    const { tenantId, mark, identifiers } = await aHalfErasedPerson();
    for (const place of [0, 1]) {
      for (const identifier of identifiers) {
        expect(await send(place, tenantId, eventOf(mark, [identifier]))).toEqual(['profile_erased']);
      }
      expect(await of(place, CustomerReader).findByIdentifier(tenantId, identifiers[0]!)).toBeNull();
    }
  });

  it('is finished by the next call, on any node', async () => {
    const { tenantId, mark, identifiers, rootId, customer } = await aHalfErasedPerson();
    const answer = await of(1, ErasuresService).erase(aCaller(tenantId), rootId, null);
    expect(answer.erasedAt).toEqual(customer?.erasure.erasedAt);
    expect(await placesOf(url, [mark])).toEqual([]);
    expect(await send(0, tenantId, eventOf(mark, identifiers))).toEqual(['profile_erased']);
  });

  it('is finished by the next call by any identifier, also of a participant, who has no export meanwhile', async () => {
    for (const place of [0, 1]) {
      const { tenantId, mark, identifiers, rootId } = await aHalfErasedPerson();
      await query(
        `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at, id)
         VALUES ($1, $2, 'spring', '{}', '{}', now(), gen_random_uuid())`,
        [tenantId, identifiers[0]!.value],
      );
      const { kind: type, value } = identifiers[place]!;
      const exported = of(place, ProfileExport).ofIdentifier(tenantId, { type, value });
      await expect(exported).rejects.toMatchObject({ code: 'not_found' });
      const erased = await of(place, ErasuresService).eraseByIdentifier(aCaller(tenantId), { type, value }, null);
      expect(erased).toMatchObject({ profileId: rootId, finishedAt: expect.any(Date) });
      expect(await placesOf(url, [mark])).toEqual([]);
    }
  });

  it('is finished by the next node that starts', async () => {
    const { tenantId, mark, identifiers } = await aHalfErasedPerson();
    const node = await startNode(url, ENVIRONMENT);
    try {
      for (let place = ''; place !== 'nowhere';) place = (await placesOf(url, [mark]))[0] ?? 'nowhere';
    } finally {
      await node.close();
    }
    expect(await unfinishedOf(tenantId)).toEqual([]);
    expect(await send(0, tenantId, eventOf(mark, identifiers))).toEqual(['profile_erased']);
  });

  it('is finished by a job where no process starts, and keeps no other from its end', async () => {
    const [stuck, other] = [await aHalfErasedPerson(), await aHalfErasedPerson()];
    await query(`UPDATE erasures SET erased_at = now() - interval '1 minute' WHERE finished_at IS NULL`, []);
    const refusal = await refuseWrites(url, 'erasures', `NEW.tenant_id = '${stuck.tenantId}'`);
    const jobs = of(0, Jobs);
    const sweep = () => jobs.add(of(0, DataSource).manager, 'erasures-sweep', {}, { key: 'now' });
    jobs.start();
    await sweep();
    await until(async () => (await placesOf(url, [other.mark])).length === 0);
    expect(await placesOf(url, [stuck.mark])).not.toEqual([]);
    await refusal.undo();
    await sweep();
    await until(async () => (await placesOf(url, [stuck.mark])).length === 0);
    for (const { tenantId } of [stuck, other]) expect(await unfinishedOf(tenantId)).toEqual([]);
  });
});

describe('an event that is on its way while its person is erased', () => {
  const HOLD = HOLD_PROFILES.text;

  async function aPerson(tenantId: string, mark: string): Promise<string> {
    await send(0, tenantId, eventOf(mark, [external(mark)]));
    return (await of(0, CustomerReader).findByIdentifier(tenantId, external(mark)))!.rootId;
  }

  const somebodyWaits = (): Promise<void> => until(async () => (await waitingForLocks(url)) > 0);

  it('is waited for when it holds the profile already, and erased too', async () => {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    const profileId = await aPerson(tenantId, mark);
    await withClient(url, async (sender) => {
      await sender.query('BEGIN');
      expect((await sender.query(HOLD, [[tenantId], [profileId]])).rowCount).toBe(1);
      const erasing = of(0, ErasuresService).erase(aCaller(tenantId), profileId, null);
      await somebodyWaits();
      await sender.query(
        `INSERT INTO events SELECT tenant_id, gen_random_uuid(), family, source, 'late', event_type, event_type_version,
           occurred_at, received_at, profile_id, jsonb_build_object('value', $2::text), properties, '\\x01', batch_id
         FROM events WHERE tenant_id = $1`,
        [tenantId, mark],
      );
      await sender.query('COMMIT');
      await erasing;
    });
    expect(await query('SELECT 1 FROM events WHERE tenant_id = $1', [tenantId])).toHaveLength(2);
    expect(await placesOf(url, [mark])).toEqual([]);
  });

  it('does not hold a profile that was erased while it waited for another one', async () => {
    const { tenantId } = await aTenant(url);
    const ids = [await aPerson(tenantId, randomUUID()), await aPerson(tenantId, randomUUID())].sort();
    const [first = '', second = ''] = ids;
    await withClient(url, (blocker) =>
      withClient(url, async (sender) => {
        await blocker.query('BEGIN');
        await blocker.query('SELECT 1 FROM profiles WHERE profile_id = $1 FOR UPDATE', [first]);
        await sender.query('BEGIN');
        // Its look at the table is older than the erasure, and it comes to the second row after it.
        const held = sender.query(HOLD, [[tenantId, tenantId], ids]);
        await somebodyWaits();
        await of(0, ErasuresService).erase(aCaller(tenantId), second, null);
        await blocker.query('COMMIT');
        expect((await held).rows).toEqual([{ profile_id: first }]);
        await sender.query('ROLLBACK');
      }),
    );
  });
});

describe('erasing a customer of 20,000 events', () => {
  it('keeps nobody else waiting, and leaves nothing', async () => {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    await send(0, tenantId, eventOf(mark, [external(mark)]));
    const { rootId } = (await of(0, CustomerReader).findByIdentifier(tenantId, external(mark)))!;
    await query(
      `INSERT INTO events SELECT tenant_id, gen_random_uuid(), family, source, n::text, event_type, event_type_version,
         occurred_at - n * interval '1 second', received_at, profile_id, identity, properties, content_hash, batch_id
       FROM events, generate_series(1, 20000) n WHERE tenant_id = $1`,
      [tenantId],
    );
    const erasing = of(0, ErasuresService).erase(aCaller(tenantId), rootId, null);
    const waits: number[] = [];
    const done = erasing.then(() => true);
    while (!(await Promise.race([done, setImmediate(false)]))) {
      const started = performance.now();
      expect(await send(1, tenantId, aSubmission())).toEqual(['accepted']);
      waits.push(performance.now() - started);
    }
    await erasing;
    expect(Math.max(...waits)).toBeLessThan(1_000);
    expect(await placesOf(url, [mark])).toEqual([]);
  });
});

describe('an erasure beside 100 MB of refused payloads', () => {
  /** As bodies that are no JSON were kept before there was a limit, each of 5 MiB. */
  const insertPayloads = (tenantId: string, count: number, payload: string) =>
    query(
      `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, payload, payload_form,
         occurrences, first_seen_at, last_seen_at, status)
       SELECT $1, gen_random_uuid(), 'error', 'request', 'malformed_json', 'm', '[]', 'external', $3, 'text', 1,
         now() - interval '1 day', now() - interval '1 day', 'open'
       FROM generate_series(1, $2)`,
      [tenantId, count, payload],
    );

  it('finds who is named at the end of one, and fails at none of them', async () => {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    await send(0, tenantId, eventOf(mark, [external(mark)]));
    const { rootId } = (await of(0, CustomerReader).findByIdentifier(tenantId, external(mark)))!;
    const filler = `{"a": "b", "c" : [ 1, 2 ] },`.repeat((5 * 1024 * 1024) / 28);
    await insertPayloads(tenantId, 20, filler);
    await insertPayloads(tenantId, 1, `${filler}"value": "${mark}"`);
    // Across the border of two pieces.
    for (const border of [128 * 1024, 1024 * 1024]) {
      await insertPayloads(tenantId, 1, `${'x'.repeat(border - 20)} "value": "${mark}" ${'x'.repeat(100)}`);
    }
    await of(0, ErasuresService).erase(aCaller(tenantId), rootId, null);
    const [left] = await query(
      'SELECT count(payload)::int AS kept, count(*)::int AS entries FROM review_entries WHERE tenant_id = $1',
      [tenantId],
    );
    expect(left).toEqual({ kept: 20, entries: 23 });
  });

  it('goes on where a killed process has stopped, and looks again only at what was written since', async () => {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    await send(0, tenantId, eventOf(mark, [external(mark)]));
    const { rootId } = (await of(0, CustomerReader).findByIdentifier(tenantId, external(mark)))!;
    const customers = of(0, CustomerErasure);
    const customer = (await customers.begin(tenantId, rootId, { by: 'test', address: null }))!;
    await insertPayloads(tenantId, 2, `"value": "${mark}"${'x'.repeat(1024 * 1024)}`);
    const [first, second] = (
      await query('SELECT id FROM review_entries WHERE tenant_id = $1 ORDER BY id', [tenantId])
    ).map(({ id }) => id as string);
    const steps = (await customers.steps(customer.erasure))!;
    expect(steps).toEqual({ begunAt: expect.any(String), positions: {} });
    const ofReview = customers.stepsOf(customer.erasure, steps, 'review', new AbortController().signal);
    await until(async () => {
      await ofReview.done(first!);
      return (await of(1, CustomerErasure).steps(customer.erasure))!.positions['review'] === first;
    });
    expect((await of(1, CustomerErasure).steps(customer.erasure))!.begunAt).toBe(steps.begunAt);
    await of(1, ErasuresService).erase(aCaller(tenantId), rootId, null);
    const left = await query('SELECT id FROM review_entries WHERE tenant_id = $1 AND payload IS NOT NULL', [tenantId]);
    // It was passed over, since it was said to be done.
    expect(left).toEqual([{ id: first }]);
    expect(second).toBeDefined();
  });

  it('stops with its process, says so, and is taken up where it was', async () => {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    await send(0, tenantId, eventOf(mark, [external(mark)]));
    const { rootId } = (await of(0, CustomerReader).findByIdentifier(tenantId, external(mark)))!;
    await insertPayloads(tenantId, 60, `"value": "${mark}"${'x'.repeat(1024 * 1024)}`);
    const kept = async (): Promise<number> => {
      const counted = 'SELECT count(payload)::int AS kept FROM review_entries WHERE tenant_id = $1';
      return (await query(counted, [tenantId]))[0]!['kept'];
    };
    const stopping = await startNode(url, ENVIRONMENT);
    const erasing = stopping.get(ErasuresService).erase(aCaller(tenantId), rootId, null);
    const refused = expect(erasing).rejects.toMatchObject({ code: 'unavailable' });
    await until(async () => (await kept()) < 60);
    stopping.get(Readiness).stop();
    await refused;
    const left = await kept();
    expect(left).toBeGreaterThan(0);
    await stopping.close();
    const positions = `SELECT progress -> 'positions' ->> 'review' AS review FROM erasures WHERE tenant_id = $1`;
    const [{ review }] = (await query(positions, [tenantId])) as [{ review: string }];
    const passed = 'SELECT count(*)::int AS done FROM review_entries WHERE tenant_id = $1 AND id <= $2';
    expect(await query(passed, [tenantId, review])).toEqual([{ done: 60 - left }]);
    await of(1, ErasuresService).erase(aCaller(tenantId), rootId, null);
    expect(await kept()).toBe(0);
  });

  it('is left to the process that is at it, and taken over once that is gone', async () => {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    await send(0, tenantId, eventOf(mark, [external(mark)]));
    const { rootId } = (await of(0, CustomerReader).findByIdentifier(tenantId, external(mark)))!;
    const customers = of(0, CustomerErasure);
    const customer = (await customers.begin(tenantId, rootId, { by: 'test', address: null }))!;
    await customers.steps(customer.erasure);
    const unfinished = async (idleForMs: number) => {
      const now = Date.now();
      const found = await customers.unfinished(new Date(now + 1_000), new Date(now - idleForMs), 1_000);
      return found.some(({ profileId }) => profileId === rootId);
    };
    expect(await unfinished(15_000)).toBe(false);
    expect(await unfinished(-1_000)).toBe(true);
  });

  it('is taken up and finds everything where the clock was set back since', async () => {
    const { tenantId } = await aTenant(url);
    const mark = randomUUID();
    await send(0, tenantId, eventOf(mark, [external(mark)]));
    const { rootId } = (await of(0, CustomerReader).findByIdentifier(tenantId, external(mark)))!;
    const customers = of(0, CustomerErasure);
    await customers.begin(tenantId, rootId, { by: 'test', address: null });
    // Its process looked at all entries, and was killed. What came later has an earlier time.
    await query(
      `UPDATE erasures SET erased_at = erased_at + interval '1 day', worked_at = now() + interval '1 day',
         progress = jsonb_build_object('begunAt', now() + interval '1 day', 'positions', jsonb_build_object('review', $2::text))
       WHERE tenant_id = $1`,
      [tenantId, MAX_UUID],
    );
    await insertPayloads(tenantId, 2, `"value": "${mark}"${'x'.repeat(1024 * 1024)}`);
    const now = Date.now();
    const found = await customers.unfinished(new Date(now - 60_000), new Date(now - 15_000), 1_000);
    expect(found.some(({ profileId }) => profileId === rootId)).toBe(true);
    await of(1, ErasuresService).erase(aCaller(tenantId), rootId, null);
    expect(await placesOf(url, [mark])).toEqual([]);
  });
});
