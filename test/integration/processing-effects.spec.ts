import type { INestApplicationContext } from '@nestjs/common';
import { freshDatabaseUrl } from '../support/database';
import { letParkedTimePass, parkedIdsOf, processingRecordsOf } from '../support/failed-events';
import { named, sendTo, startNode } from '../support/ingest';
import {
  appliedTo,
  prepareEffects,
  recordEffects,
  startWorker,
  untilDrained,
  type RecordingEffect,
} from '../support/processing';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

let url: string;
let node: INestApplicationContext;
let effects: readonly [RecordingEffect, RecordingEffect];

beforeAll(async () => {
  url = await freshDatabaseUrl('processing_effects');
  await prepareEffects(url);
});

beforeEach(async () => {
  node = await startNode(url);
  effects = [recordEffects(node), recordEffects(node)];
  startWorker(node);
});

afterEach(() => node.close());

const send = (tenantId: string, events: readonly (readonly [id: string, customer: string])[]) =>
  sendTo(
    node,
    tenantId,
    events.map(([id, customer]) => named(id, customer)),
  );

/** How often each effect was applied to each event. */
const attempts = () => effects.flatMap((effect) => [...effect.attempts.values()]);

describe.each([0, 1] as const)('two effects of the same events, of which number %d', (number) => {
  it('leaves some for another turn, are both applied once to each, in their order', async () => {
    const { tenantId } = await aTenant(url);
    effects[number].atOnce = 7;
    const ids = Array.from({ length: 40 }, (_unused, index) => String(index));
    await send(
      tenantId,
      ids.map((id) => [id, 'jane']),
    );
    await untilDrained(url, tenantId);
    expect(attempts()).toEqual(Array(80).fill(1));
    const applied = await appliedTo(url, tenantId);
    expect(applied).toHaveLength(80);
    expect([...new Set(applied)]).toEqual(ids);
  });

  it('takes too long with one for now, are both applied once to each', async () => {
    const { tenantId } = await aTenant(url);
    effects[number].slow.add('slow');
    await send(tenantId, [
      ['before', 'jane'],
      ['slow', 'jane'],
      ['then', 'jane'],
      ['else', 'ann'],
    ]);
    await until(async () => (await parkedIdsOf(url, tenantId)).length === 2);
    await until(async () => (await appliedTo(url, tenantId)).length === 4);
    await letParkedTimePass(node, url, tenantId);
    expect(await processingRecordsOf(url, tenantId)).toContainEqual(
      expect.objectContaining({ id: 'slow', state: 'queued', attempts: 2 }),
    );
    expect((await appliedTo(url, tenantId)).toSorted()).toEqual(['before', 'before', 'else', 'else']);
    effects[number].slow.clear();
    await letParkedTimePass(node, url, tenantId);
    await untilDrained(url, tenantId);
    expect(attempts()).toEqual(Array(8).fill(1));
    expect((await appliedTo(url, tenantId)).filter((id) => id !== 'else')).toEqual(
      ['before', 'slow', 'then'].flatMap((id) => [id, id]),
    );
  });
});
