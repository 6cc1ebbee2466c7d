import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ErasuresService } from '../../src/cdp/customers/erasures.service';
import { CustomerErasure } from '../../src/identity/customer-erasure';
import { Readiness } from '../../src/platform/health/readiness';
import { Jobs } from '../../src/platform/jobs/jobs';
import { PersonalData, type PersonalRecord } from '../../src/platform/privacy/personal-data';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { external, startNode } from '../support/ingest';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

const ENVIRONMENT = { SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
const IN_PROCESS = { by: 'test', address: null };

let url: string;
let node: INestApplicationContext;

beforeEach(async () => {
  url = await freshDatabaseUrl('sweep');
  node = await startNode(url, ENVIRONMENT);
});

afterEach(() => node.close());

/** Erasures whose processes were killed. Returns the workspace. */
async function interruptedErasures(count: number): Promise<string> {
  const { tenantId } = await aTenant(url);
  for (let number = 0; number < count; number += 1) {
    await node.get(CustomerErasure).beginWithoutProfile(tenantId, external(randomUUID()), IN_PROCESS);
  }
  await rowsOf(url, `UPDATE erasures SET erased_at = now() - interval '2 minutes' WHERE tenant_id = $1`, [tenantId]);
  return tenantId;
}

async function unfinishedOf(tenantId: string): Promise<number> {
  const sql = 'SELECT count(*)::int AS n FROM erasures WHERE tenant_id = $1 AND finished_at IS NULL';
  const [row] = await rowsOf<{ n: number }>(url, sql, [tenantId]);
  return row!.n;
}

async function begunOf(tenantId: string): Promise<number> {
  return (await rowsOf(url, 'SELECT FROM erasures WHERE tenant_id = $1 AND worked_at IS NOT NULL', [tenantId])).length;
}

/** Jobs that no process has taken yet. */
async function waitingJobs(task: string): Promise<number> {
  const sql = 'SELECT FROM cds_jobs.jobs WHERE task_identifier = $1 AND locked_at IS NULL AND run_at <= now()';
  return (await rowsOf(url, sql, [task])).length;
}

const nothing = (): AsyncIterable<PersonalRecord> => (async function* none(): AsyncGenerator<PersonalRecord> {})();

const sweepOf = (tenantId: string) => node.get(ErasuresService).finishInterrupted(60_000, { tenantId });

describe('erasures of killed processes', () => {
  it('are finished one in a step, and another job goes on behind it', async () => {
    const tenantId = await interruptedErasures(3);
    const first = sweepOf(tenantId);
    const { value: position } = await first.next();
    await first.return(undefined);
    expect(await unfinishedOf(tenantId)).toBe(2);
    for await (const _step of node.get(ErasuresService).finishInterrupted(60_000, position));
    expect(await unfinishedOf(tenantId)).toBe(0);
  });

  it('wait for another process where this one stops', async () => {
    const tenantId = await interruptedErasures(3);
    const steps = sweepOf(tenantId);
    await steps.next();
    node.get(Readiness).stop();
    expect(await steps.next()).toEqual({ done: true, value: undefined });
    expect(await unfinishedOf(tenantId)).toBe(2);
  });

  it('keep no other job from running, however long they take', async () => {
    const tenantId = await interruptedErasures(2);
    let end = (): void => undefined;
    const ended = new Promise<boolean>((resolve) => (end = () => resolve(true)));
    node
      .get(PersonalData)
      .register({ name: 'slow', exportOf: nothing, eraseAhead: () => ended, erase: () => Promise.resolve() });
    const jobs = node.get(Jobs);
    let hasRun = false;
    jobs.handle('another', () => Promise.resolve(void (hasRun = true)));
    jobs.start();
    const { manager } = node.get(DataSource);
    const sweep = (key: string) => jobs.add(manager, 'erasures-sweep', {}, { key });
    await sweep('first');
    await until(async () => (await begunOf(tenantId)) === 1);
    await sweep('second');
    await until(async () => (await waitingJobs('erasures-sweep')) === 0);
    await jobs.add(manager, 'another', {}, { key: 'another' });
    await until(() => hasRun);
    expect(await unfinishedOf(tenantId)).toBe(2);
    end();
    await until(async () => (await unfinishedOf(tenantId)) === 0);
  });
});
