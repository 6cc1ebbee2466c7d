import type { INestApplicationContext } from '@nestjs/common';
import { MergesService } from '../../src/identity/merges.service';
import type { EventFields } from '../../src/ingest/domain/event';
import { shardOf } from '../../src/ingest/queue/queue-partition';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { device, email, external, named, sendTo, startNode } from '../support/ingest';
import { appliedTo, prepareEffects, recordEffects, workOff } from '../support/processing';
import { aTenant } from '../support/tenant';

/** More than return to the queue in one turn. */
const WAITING = 1_000;
/** More than a turn reads at once. */
const LATER = 600;

let url: string;
let nodes: INestApplicationContext[];
let tenantId: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('returning_events');
  await prepareEffects(url);
});
beforeEach(async () => {
  nodes = await Promise.all([1, 2].map(() => startNode(url)));
  for (const node of nodes) recordEffects(node);
  ({ tenantId } = await aTenant(url));
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()));
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_unused, number) => number);
const send = (fields: readonly Partial<EventFields>[]) => sendTo(nodes[0]!, tenantId, fields);

const workWith = (node: INestApplicationContext): Promise<void> => workOff(node, url, tenantId);

/** Events of a device that wait for a customer. Nothing is queued afterwards. */
async function eventsThatWait(): Promise<void> {
  const waits = { identifiers: [device('d')], properties: { breaks: 'waits' } };
  await send(upTo(WAITING).map((n) => ({ externalEventId: `waiting/${n}`, ...waits })));
  await workWith(nodes[0]!);
}

/** Links the device to ann, who has many later events. */
async function linkAnn(): Promise<void> {
  await send([{ externalEventId: 'link', identifiers: [external('ann'), device('d')] }]);
  await send(upTo(LATER).map((n) => named(`later/${n}`, 'ann')));
}

/** Sends events until one is of a new customer with the partition of the customer `of`. Returns its identifier. */
async function aNeighbour(of: string, event: (name: string) => Partial<EventFields>): Promise<string> {
  const [customer] = await rowsOf<{ root_id: string }>(
    url,
    `SELECT p.root_id FROM profile_identifiers i JOIN profiles p USING (tenant_id, profile_id)
     WHERE i.tenant_id = $1 AND i.value = $2`,
    [tenantId, of],
  );
  for (let from = 0; ; from += 100) {
    const names = upTo(100).map((n) => `somebody-${from + n}`);
    await send(names.map((name) => event(name)));
    const owners = await rowsOf<{ value: string; profile_id: string }>(
      url,
      'SELECT value, profile_id FROM profile_identifiers WHERE tenant_id = $1 AND value LIKE ANY ($2)',
      [tenantId, names.map((name) => `${name}%`)],
    );
    const found = owners.find(({ profile_id }) => shardOf(profile_id) === shardOf(customer!.root_id));
    if (found !== undefined) return found.value;
  }
}

describe('events that waited for their customer', () => {
  it.each([
    ['a login', 'somebody else'],
    ['a merge', 'ann'],
  ])('return after %s in their order, and hold up no other customer of their partition', async (_after, known) => {
    await send([named('before', known)]);
    await eventsThatWait();
    await linkAnn();
    const neighbour = await aNeighbour('ann', (name) => named(name, name));
    await send([named('neighbour', neighbour)]);
    await workWith(nodes[1]!);
    const applied = await appliedTo(url, tenantId);
    const ofAnn = applied.filter((id) => /^(waiting|later)\//.test(id));
    expect(ofAnn).toEqual([...upTo(WAITING).map((n) => `waiting/${n}`), ...upTo(LATER).map((n) => `later/${n}`)]);
    const before = applied.slice(0, applied.indexOf('neighbour')).filter((id) => ofAnn.includes(id));
    expect(before.length).toBeLessThan(WAITING / 2);
  });

  it('leave the order of a customer who was one with theirs before an undo', async () => {
    await eventsThatWait();
    const mail = (name: string) => email(`${name}@example.com`);
    const neighbour = await aNeighbour('d', (name) => ({ externalEventId: name, identifiers: [mail(name)] }));
    const ofNeighbour = { identifiers: [email(neighbour)] };
    await send([{ externalEventId: 'merge', identifiers: [device('d'), email(neighbour)] }]);
    await linkAnn();
    await send([{ externalEventId: 'as ann', ...ofNeighbour }]);
    const [merge] = await rowsOf<{ id: string }>(
      url,
      `SELECT m.id FROM profile_merges m JOIN events e USING (tenant_id, event_id)
       WHERE m.tenant_id = $1 AND e.external_event_id = 'merge'`,
      [tenantId],
    );
    await nodes[0]!.get(MergesService).undo(tenantId, merge!.id);
    await send([{ externalEventId: 'apart', ...ofNeighbour }]);
    await workWith(nodes[1]!);
    const applied = await appliedTo(url, tenantId);
    expect(applied.filter((id) => id === 'as ann' || id === 'apart')).toEqual(['as ann', 'apart']);
  });
});
