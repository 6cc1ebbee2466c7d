import type { INestApplicationContext } from '@nestjs/common';
import type { Identifier } from '../../src/identity/domain/identifier';
import type { IngestResult } from '../../src/ingest/domain/ingest-result';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { shuffled } from '../support/builders';
import { QUEUED_EVENTS } from '../support/processing';
import { databaseUrl, rowsOf } from '../support/database';
import { aCaller, aSubmission, device, email, external, startNode } from '../support/ingest';
import { aTenant } from '../support/tenant';

describe('taking events on two nodes', () => {
  let url: string;
  let nodes: INestApplicationContext[];
  let services: IngestPipeline[];

  beforeAll(async () => {
    url = await databaseUrl();
    nodes = [await startNode(url), await startNode(url)];
    services = nodes.map((node) => node.get(IngestPipeline));
  });

  afterAll(async () => {
    for (const node of nodes) await node.close();
  });

  const query = (text: string, values: unknown[]) => rowsOf<Record<string, unknown>>(url, text, values);

  const customersOf = (tenantId: string) =>
    query(
      `SELECT array_agg(i.kind || ':' || i.value ORDER BY i.kind, i.value) AS identifiers
       FROM profile_identifiers i JOIN profiles p USING (tenant_id, profile_id)
       WHERE tenant_id = $1 GROUP BY p.root_id ORDER BY 1`,
      [tenantId],
    ).then((rows) => rows.map((row) => row['identifiers']));

  function settle(results: readonly IngestResult[]) {
    return {
      accepted: results.flatMap((result) => (result.status === 'accepted' ? [result.eventId] : [])),
      duplicates: results.flatMap((result) => (result.status === 'duplicate' ? [result.eventId] : [])),
      errors: results.flatMap((result) => (result.status === 'error' ? [result.refusal.code] : [])),
    };
  }

  it('accepts one of 128 simultaneous copies and names it to the others', async () => {
    const { tenantId } = await aTenant(url);
    const event = aSubmission();
    const sent = Array.from({ length: 128 }, (_unused, copy) =>
      services[copy % 2]!.ingestOne(aCaller(tenantId), event, 'live'),
    );
    const { accepted, duplicates, errors } = settle(await Promise.all(sent));
    expect(errors).toEqual([]);
    expect(accepted).toHaveLength(1);
    expect(new Set(duplicates)).toEqual(new Set(accepted));
    const rows = await query('SELECT event_id FROM events WHERE tenant_id = $1', [tenantId]);
    expect(rows).toEqual([{ event_id: accepted[0] }]);
    expect(await query(`SELECT event_id FROM ${QUEUED_EVENTS} q WHERE tenant_id = $1`, [tenantId])).toEqual(rows);
  });

  it('accepts each event of twelve shuffled batches once, with customers known by nobody before', async () => {
    const { tenantId } = await aTenant(url);
    const events = Array.from({ length: 300 }, (_unused, number) =>
      aSubmission({ identifiers: [external(`c${number % 40}`), email(`m${number % 40}@example.com`)] }),
    );
    const sent = Array.from({ length: 12 }, (_unused, copy) =>
      services[copy % 2]!.ingest(aCaller(tenantId), shuffled(events), 'live'),
    );
    const { accepted, duplicates, errors } = settle((await Promise.all(sent)).flat());
    expect(errors).toEqual([]);
    expect(new Set(accepted).size).toBe(300);
    expect(accepted).toHaveLength(300);
    expect(duplicates).toHaveLength(11 * 300);
    expect(await query('SELECT count(*)::int AS n FROM events WHERE tenant_id = $1', [tenantId])).toEqual([{ n: 300 }]);
    expect(await query(`SELECT count(*)::int AS n FROM ${QUEUED_EVENTS} q WHERE tenant_id = $1`, [tenantId])).toEqual([
      { n: 300 },
    ]);
    expect(await customersOf(tenantId)).toHaveLength(40);
  });

  it('makes one customer of simultaneous first events, however their identifiers overlap', async () => {
    const { tenantId } = await aTenant(url);
    const ring = Array.from({ length: 60 }, (_unused, number) =>
      aSubmission({ identifiers: [email(`m${number % 6}@x.de`), device(`d${(number + 1) % 6}`)] }),
    ).concat(
      Array.from({ length: 6 }, (_unused, number) =>
        aSubmission({ identifiers: [email(`m${number}@x.de`), device(`d${number}`)] }),
      ),
    );
    const sent = shuffled(ring).map((event, place) => services[place % 2]!.ingestOne(aCaller(tenantId), event, 'live'));
    expect(settle(await Promise.all(sent)).accepted).toHaveLength(66);
    expect(await customersOf(tenantId)).toHaveLength(1);
    const chains = await query(
      `SELECT 1 FROM profiles p JOIN profiles r ON r.tenant_id = p.tenant_id AND r.profile_id = p.root_id
       WHERE p.tenant_id = $1 AND r.root_id <> r.profile_id`,
      [tenantId],
    );
    expect(chains).toEqual([]);
  });

  it('never lets two EXTERNAL identifiers into one customer, and keeps the counts exact', async () => {
    const { tenantId } = await aTenant(url);
    const events = Array.from({ length: 400 }, () => {
      const pick = (count: number) => Math.floor(Math.random() * count);
      const weak = [email(`m${pick(8)}@x.de`), device(`d${pick(8)}`)];
      return aSubmission({ identifiers: Math.random() < 0.5 ? [external(`c${pick(5)}`), ...weak] : weak });
    });
    const sent = events.map((event, place) => services[place % 2]!.ingestOne(aCaller(tenantId), event, 'live'));
    const { accepted, errors } = settle(await Promise.all(sent));
    expect(accepted.length + errors.length).toBe(400);
    expect(errors.every((code) => code === 'identity_conflict')).toBe(true);
    const customers = (await customersOf(tenantId)) as string[][];
    for (const identifiers of customers) {
      expect(identifiers.filter((identifier) => identifier.startsWith('EXTERNAL')).length).toBeLessThanOrEqual(1);
    }
    const wrongCounts = await query(
      `SELECT r.profile_id FROM profiles r WHERE r.tenant_id = $1 AND r.root_id = r.profile_id AND
         ROW(r.email_count, r.device_count, r.external_id)::text <> (
           SELECT ROW(count(*) FILTER (WHERE i.kind = 'EMAIL'), count(*) FILTER (WHERE i.kind = 'DEVICE'),
             max(i.value) FILTER (WHERE i.kind = 'EXTERNAL'))::text
           FROM profile_identifiers i JOIN profiles p USING (tenant_id, profile_id)
           WHERE i.tenant_id = r.tenant_id AND p.root_id = r.profile_id)`,
      [tenantId],
    );
    expect(wrongCounts).toEqual([]);
  });

  it('never merges again by itself what somebody has separated, also not by way of a third customer', async () => {
    const { tenantId } = await aTenant(url);
    const take = (...identifiers: Identifier[]) =>
      services[0]!.ingestOne(aCaller(tenantId), aSubmission({ identifiers }), 'live');
    await take(external('x'), email('a@x.de'));
    await take(email('b@x.de'));
    await take(external('y'), email('c@x.de'));
    const rootOf = async (value: string) => {
      const [row] = await query(
        `SELECT p.root_id FROM profile_identifiers i JOIN profiles p USING (tenant_id, profile_id)
         WHERE i.tenant_id = $1 AND i.value = $2`,
        [tenantId, value],
      );
      return row?.['root_id'];
    };
    // What undoing a merge of b into a, and one of b into c, leaves behind.
    const separate = async (from: string, into: string) =>
      query(
        `INSERT INTO profile_merges SELECT $1, gen_random_uuid(), $2, $3, gen_random_uuid(), now(), now(), $2, $3`,
        [tenantId, await rootOf(from), await rootOf(into)],
      );
    await separate('b@x.de', 'a@x.de');
    await separate('c@x.de', 'b@x.de');
    const results = await services[0]!.ingest(
      aCaller(tenantId),
      [
        aSubmission({ identifiers: [email('a@x.de'), device('d')] }),
        aSubmission({ identifiers: [email('b@x.de'), device('d')] }),
        aSubmission({ identifiers: [email('b@x.de'), device('e')] }),
        aSubmission({ identifiers: [email('c@x.de'), device('e')] }),
      ],
      'live',
    );
    expect(results.map(({ status }) => status)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
    expect(new Set([await rootOf('a@x.de'), await rootOf('b@x.de'), await rootOf('c@x.de')]).size).toBe(3);
    const warned = await query("SELECT reason FROM review_entries WHERE tenant_id = $1 AND severity = 'warning'", [
      tenantId,
    ]);
    expect(warned).toEqual([{ reason: 'identity_link_refused' }, { reason: 'identity_link_refused' }]);
  });

  it('never deduplicates across workspaces', async () => {
    const [one, other] = [await aTenant(url), await aTenant(url)];
    const event = aSubmission();
    const results = await Promise.all(
      [one, other].map(({ tenantId }) => services[0]!.ingestOne(aCaller(tenantId), event, 'live')),
    );
    expect(settle(results).accepted).toHaveLength(2);
    expect(new Set(settle(results).accepted).size).toBe(2);
  });
});
