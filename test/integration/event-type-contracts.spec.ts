import type { INestApplicationContext } from '@nestjs/common';
import { EventTypeContracts, type Contract } from '../../src/cdp/event-types/event-type-contracts';
import { parseRegistration } from '../../src/cdp/event-types/domain/event-type-parser';
import { EventTypesService } from '../../src/cdp/event-types/event-types.service';
import { PURCHASE } from '../support/builders';
import { databaseUrl } from '../support/database';
import { aCaller, startNode } from '../support/ingest';
import { aTenant } from '../support/tenant';

let node: INestApplicationContext;
let tenantId: string;

beforeAll(async () => {
  node = await startNode(await databaseUrl());
});

beforeEach(async () => {
  ({ tenantId } = await aTenant(await databaseUrl()));
});

afterAll(() => node.close());

const register = (definition: object): Promise<unknown> =>
  node.get(EventTypesService).register(aCaller(tenantId), parseRegistration(definition));
const find = async (eventType: string): Promise<Contract> =>
  (await node.get(EventTypeContracts).find(tenantId, eventType)) as Contract;

describe('the contracts of a node', () => {
  it('are compiled once a version, whatever else of their type changes', async () => {
    await register(PURCHASE);
    const [first, same] = await Promise.all([find('purchase'), find('purchase')]);
    expect(same.check).toBe(first.check);
    await node.get(EventTypesService).deprecate(tenantId, 'purchase');
    const deprecated = await find('purchase');
    expect([first.isDeprecated, deprecated.isDeprecated]).toEqual([false, true]);
    expect(deprecated.check).toBe(first.check);
    await register({ ...PURCHASE, description: 'A purchase' });
    const next = await find('purchase');
    expect([next.version, next.isDeprecated]).toEqual([2, true]);
    expect(next.check).not.toBe(first.check);
  });

  it('take no more room than they may: what has not been used for long is made again', async () => {
    const values = Array.from({ length: 100 }, (_, n) => `${n} `.padEnd(250, 'x'));
    const property = { type: 'string', enum: values };
    const properties = { a: property, b: property, c: property, d: property, e: property, f: property, g: property };
    const names = Array.from({ length: 80 }, (_, n) => `large.${n}`);
    for (const eventType of names) await register({ eventType, properties });
    const first = await find('large.0');
    for (const eventType of names) await find(eventType);
    const again = await find('large.0');
    expect(again.check).not.toBe(first.check);
    expect([again.check({ a: values[0] }), again.check({ a: 'x' })]).toMatchObject([[], [{ code: 'enum' }]]);
    expect((await find('large.79')).check).toBe((await find('large.79')).check);
  });

  it('know what is not registered, and what could not be', async () => {
    const contracts = node.get(EventTypeContracts);
    expect(await contracts.find(tenantId, 'purchase')).toBe('unregistered');
    for (const name of [undefined, null, 1, '', '-a', 'x'.repeat(129), {}]) {
      expect(await contracts.find(tenantId, name)).toBeUndefined();
    }
  });
});
