import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Declarations } from '../../src/variables/domain/declarations';
import { VariablesService } from '../../src/variables/variables.service';
import { databaseUrl } from '../support/database';
import { startNode } from '../support/ingest';

/** On every node (contract section 4, and so for declarations). */
const IN_FORCE_MS_MAX = 1_000;
const CAMPAIGN = 'summer';
const POINTS = { scope: 'user', name: 'points', type: 'number' } as const;

let node: INestApplicationContext;
let other: INestApplicationContext;
let here: VariablesService;
let there: VariablesService;
let tenantId: string;

beforeAll(async () => {
  [node, other] = await Promise.all([startNode(await databaseUrl()), startNode(await databaseUrl())]);
  [here, there] = [node.get(VariablesService), other.get(VariablesService)];
});

beforeEach(() => {
  tenantId = randomUUID();
});

afterAll(() => Promise.all([node.close(), other.close()]));

const define = (fields = {}, campaign = CAMPAIGN, by = here) => by.define(tenantId, campaign, { ...POINTS, ...fields });
const declarations = (by = here, campaign = CAMPAIGN) => by.declarationsOf(tenantId, campaign);

/** How many statements on the tables of variables a node sends to the database meanwhile. */
async function statementsOf(on: INestApplicationContext, work: () => Promise<unknown>): Promise<number> {
  const query = jest.spyOn(on.get(DataSource), 'createQueryRunner');
  await work();
  const { length } = query.mock.calls;
  query.mockRestore();
  return length;
}

describe('the declarations of a campaign', () => {
  it('are those in force, with their defaults', async () => {
    await define({ default: 0, description: 'Points' });
    await define({ scope: 'app', name: 'total', type: 'string' });
    await define({ scope: 'campaign', name: 'gone' });
    await here.archive(tenantId, { campaignId: CAMPAIGN, scope: 'campaign', name: 'gone' });
    const found = await declarations();
    expect([found.of('user'), found.of('campaign'), found.of('app')]).toEqual([
      [{ ...POINTS, default: 0 }],
      [],
      [{ scope: 'app', name: 'total', type: 'string' }],
    ]);
    expect(found.get('user', 'hasOwnProperty')).toBeUndefined();
  });

  it('are the empty ones of a campaign that nobody knows, of another campaign and of another workspace', async () => {
    await define();
    expect(await declarations(here, 'nobody-knows')).toBe(Declarations.NONE);
    expect(await here.declarationsOf(randomUUID(), CAMPAIGN)).toBe(Declarations.NONE);
  });

  it('are asked of the database once and then remembered, those of an unknown campaign too', async () => {
    await define();
    for (const campaign of [CAMPAIGN, 'nobody-knows']) {
      const asked = await statementsOf(node, async () => {
        const answers = await Promise.all(Array.from({ length: 100 }, () => declarations(here, campaign)));
        expect(new Set(answers).size).toBe(1);
        for (let again = 0; again < 100; again += 1) expect(await declarations(here, campaign)).toBe(answers[0]);
      });
      // Beside the question itself, the node looks for changes now and then.
      expect(asked).toBeLessThanOrEqual(5);
    }
  });

  it('are in force at once on the node that takes a change', async () => {
    expect((await declarations()).get('user', 'points')).toBeUndefined();
    for (const value of [1, 2, 3]) {
      await define({ default: value });
      expect((await declarations()).get('user', 'points')).toEqual({ ...POINTS, default: value });
    }
    await here.archive(tenantId, { campaignId: CAMPAIGN, ...POINTS });
    expect((await declarations()).get('user', 'points')).toBeUndefined();
  });

  it('are in force on every other node within a second', async () => {
    const changes = [
      () => define({ default: 1 }),
      () => define({ default: 2 }),
      () => here.archive(tenantId, { campaignId: CAMPAIGN, ...POINTS }),
      () => define(),
    ];
    for (const change of changes) {
      // The other node remembers what held until now.
      const before = (await declarations(there)).get('user', 'points');
      await change();
      const wanted = (await declarations()).get('user', 'points');
      expect(wanted).not.toEqual(before);
      const lastMs = await lastMsOfOldAnswer(async () =>
        Object.is(JSON.stringify((await declarations(there)).get('user', 'points')), JSON.stringify(wanted)),
      );
      const words = `last not in force on the other node after ${lastMs} ms`;
      expect([words, lastMs <= IN_FORCE_MS_MAX]).toEqual([words, true]);
    }
  });

  it('are announced as changed only when they have changed', async () => {
    await define({ default: 1 });
    const announced = (): Promise<unknown[]> =>
      node.get(DataSource).query('SELECT * FROM control_changes WHERE tenant_id = $1', [tenantId]);
    const before = await announced();
    expect(before).toMatchObject([{ kind: 'campaign', id: CAMPAIGN }]);
    await define({ default: 1 });
    await expect(define({ type: 'string' })).rejects.toMatchObject({ code: 'variable_type_conflict' });
    await expect(here.archive(tenantId, { campaignId: CAMPAIGN, scope: 'app', name: 'x' })).rejects.toThrow();
    expect(await announced()).toEqual(before);
  });
});

/** When the last question was sent that got the old answer; how long answers take does not count. */
async function lastMsOfOldAnswer(isSo: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  for (let lastMs = 0; ;) {
    const askedMs = Math.round(performance.now() - startedAt);
    if ((await isSo()) || askedMs > 10 * IN_FORCE_MS_MAX) return lastMs;
    lastMs = askedMs;
    await wait(10);
  }
}
