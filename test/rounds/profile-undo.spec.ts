import type { INestApplicationContext } from '@nestjs/common';
import { CustomerReader } from '../../src/identity/customer-reader';
import type { Identifier } from '../../src/identity/domain/identifier';
import { MergesService } from '../../src/identity/merges.service';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { databaseUrl, rowsOf, withClient } from '../support/database';
import { aCaller, aSubmission, device, email, external, outcomesOf, startNode } from '../support/ingest';
import { PartedPairs } from '../support/parted-pairs';
import { brokenRules } from '../support/sound-customers';
import { aTenant } from '../support/tenant';

const EVENTS = 1_600;
const SENDERS = 8;
const UNDOERS = 4;
const UNDOINGS = 40;

const pick = (count: number): number => Math.floor(Math.random() * count);

describe('undoing merges while events come in on two nodes', () => {
  let url: string;
  let nodes: INestApplicationContext[];

  beforeAll(async () => {
    url = await databaseUrl();
    nodes = [await startNode(url), await startNode(url)];
  });

  afterAll(async () => {
    for (const node of nodes) await node.close();
  });

  const of = <T>(place: number, type: abstract new (...args: never[]) => T): T => nodes[place % 2]!.get(type as never);

  /** Few people, so that everybody meets everybody else's locks. */
  function somebody(): Identifier[] {
    const all = [external(`c${pick(12)}`), email(`m${pick(30)}@x.de`), device(`d${pick(30)}`)];
    const chosen = all.filter((_unused, place) => Math.random() < [0.3, 0.8, 0.8][place]!);
    return chosen.length === 0 ? [email(`m${pick(30)}@x.de`)] : chosen;
  }

  const mergesInForce = (tenantId: string) =>
    withClient(url, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        'SELECT id FROM profile_merges WHERE tenant_id = $1 AND undone_at IS NULL',
        [tenantId],
      );
      return rows.map(({ id }) => id);
    });

  /** Looks again and again who is one with whom, each time at one moment, and once more when all is over. */
  async function watch(tenantId: string, isOver: Promise<unknown>): Promise<PartedPairs> {
    const [pairs, run] = [new PartedPairs(), { hasEnded: false }];
    const end = (): void => void (run.hasEnded = true);
    isOver.then(end, end);
    const look = async (): Promise<void> => {
      const rows = await rowsOf<{ key: string; root_id: string }>(
        url,
        `SELECT i.kind || ':' || i.value AS key, p.root_id
         FROM profile_identifiers i JOIN profiles p USING (tenant_id, profile_id) WHERE i.tenant_id = $1`,
        [tenantId],
      );
      pairs.observe(new Map(rows.map(({ key, root_id: rootId }) => [key, rootId])));
    };
    while (!run.hasEnded) await look();
    await look();
    return pairs;
  }

  it('leaves every customer sound, loses no event, and keeps everything apart that was parted', async () => {
    const { tenantId } = await aTenant(url);
    const outcomes: string[] = [];
    const undone: string[] = [];
    const senders = Array.from({ length: SENDERS }, async (_unused, place) => {
      for (let sent = 0; sent < EVENTS / SENDERS; sent += 10) {
        const events = Array.from({ length: 10 }, () => aSubmission({ identifiers: somebody() }));
        outcomes.push(...(await outcomesOf(of(place, IngestPipeline), aCaller(tenantId), events)));
      }
    });
    const undoers = Array.from({ length: UNDOERS }, async (_unused, place) => {
      for (let done = 0; done < UNDOINGS;) {
        const ids = await mergesInForce(tenantId);
        // Of the newest and of any, and the same one on both nodes.
        const id = Math.random() < 0.3 ? ids.at(-1) : ids[pick(ids.length)];
        if (id === undefined && outcomes.length === EVENTS) break;
        if (id === undefined) continue;
        const both = await Promise.all([0, 1].map((node) => of(place + node, MergesService).undo(tenantId, id)));
        expect(both[0]?.undoneAt).toEqual(both[1]?.undoneAt);
        undone.push(id);
        done += 1;
      }
    });
    const isOver = Promise.all([...senders, ...undoers]);
    const pairs = await watch(tenantId, isOver);
    await isOver;
    expect(pairs.metAgain).toEqual([]);
    expect(pairs.parted).toBeGreaterThan(UNDOINGS);
    expect(undone.length).toBeGreaterThan(UNDOINGS);
    expect(outcomes.filter((code) => !['accepted', 'identity_conflict'].includes(code))).toEqual([]);
    expect(await brokenRules(url, tenantId)).toEqual([]);
    const stored = await withClient(url, (client) =>
      client.query('SELECT 1 FROM events WHERE tenant_id = $1', [tenantId]),
    );
    expect(stored.rowCount).toBe(outcomes.filter((code) => code === 'accepted').length);
  });

  it('parts a customer whose root somebody else is merging away at that moment', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { tenantId } = await aTenant(url);
      const take = async (place: number, ...identifiers: Identifier[]): Promise<void> => {
        const event = aSubmission({ identifiers });
        expect(await outcomesOf(of(place, IngestPipeline), aCaller(tenantId), [event])).toEqual(['accepted']);
      };
      await take(0, email('m1@x.de'));
      await take(0, device('d1'));
      await take(0, external('c1'));
      await take(0, email('m1@x.de'), device('d1'));
      const [first = ''] = await mergesInForce(tenantId);
      await Promise.all([
        take(round, external('c1'), device('d1')),
        of(round + 1, MergesService).undo(tenantId, first),
      ]);
      expect(await brokenRules(url, tenantId)).toEqual([]);
      const reader = of(0, CustomerReader);
      const [m1, d1, c1] = await Promise.all(
        [email('m1@x.de'), device('d1'), external('c1')].map((each) => reader.findByIdentifier(tenantId, each)),
      );
      expect(d1?.rootId).toBe(c1?.rootId);
      expect(m1?.rootId).not.toBe(c1?.rootId);
    }
  });

  it('lets a new EXTERNAL identifier go with the email that it comes with, also while the email’s merge is undone', async () => {
    const reader = of(0, CustomerReader);
    for (let round = 0; round < 20; round += 1) {
      const { tenantId } = await aTenant(url);
      const take = async (place: number, ...identifiers: Identifier[]): Promise<void> => {
        const event = aSubmission({ identifiers });
        expect(await outcomesOf(of(place, IngestPipeline), aCaller(tenantId), [event])).toEqual(['accepted']);
      };
      await take(0, device('d1'));
      await take(0, email('m1@x.de'));
      await take(0, email('m1@x.de'), device('d1'));
      const [first = ''] = await mergesInForce(tenantId);
      await Promise.all([
        take(round, external('c1'), email('m1@x.de')),
        of(round + 1, MergesService).undo(tenantId, first),
      ]);
      for (const node of [0, 1]) await take(node, external('c1'), email('m1@x.de'), device('d1'));
      expect(await brokenRules(url, tenantId)).toEqual([]);
      const [d1, m1, c1] = await Promise.all(
        [device('d1'), email('m1@x.de'), external('c1')].map((each) => reader.findByIdentifier(tenantId, each)),
      );
      expect(m1?.rootId).toBe(c1?.rootId);
      expect(d1?.rootId).not.toBe(c1?.rootId);
    }
  });
});
