import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anExternalEvent } from '../../support/builders';
import { Client } from '../../support/client';
import { freshDatabaseUrl, withClient } from '../../support/database';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process';
import { EVER_QUEUED_EVENTS } from '../../support/processing';

const KILLS = 4;
const CLIENTS = 16;
const KEY = 'kill-and-recover-admin-key-kill-and-recover';

/** What one client knows about one event: every answer that it ever got, until one of them was an acknowledgement. */
interface Journal {
  readonly event: Record<string, unknown>;
  readonly acknowledged: string[];
}

/** Sends new events one by one, each until it is acknowledged, through whatever happens to the service. */
async function sendUntilStopped(client: () => Client, journal: Journal[], stopped: () => boolean): Promise<void> {
  while (!stopped()) {
    const entry: Journal = { event: anExternalEvent(), acknowledged: [] };
    journal.push(entry);
    while (entry.acknowledged.length === 0) {
      const answer = await client()
        .post('/v1/external-events', entry.event)
        .catch(() => undefined);
      if (answer?.status === 202) entry.acknowledged.push(answer.body.event_id as string);
      else if (answer?.status === 200) entry.acknowledged.push(answer.body.original_event_id as string);
      else if (answer !== undefined && answer.status !== 503) throw new Error(`Unforeseen answer ${answer.status}`);
      else if (stopped()) return;
    }
  }
}

async function loadWhile(
  environment: Record<string, string>,
  firstNode: ServiceProcess,
  kill: (node: ServiceProcess) => Promise<void>,
): Promise<{ journal: Journal[]; node: ServiceProcess }> {
  const journal: Journal[] = [];
  let node = firstNode;
  let stopped = false;
  const senders = Array.from({ length: CLIENTS }, () =>
    sendUntilStopped(
      () => new Client(node.url, KEY),
      journal,
      () => stopped,
    ),
  );
  for (let round = 0; round < KILLS; round += 1) {
    // Every round is in the middle of work: so many events more are acknowledged since the last one.
    await untilAcknowledged(journal, acknowledgedIn(journal) + 200);
    await kill(node);
    node = await startServiceProcess(environment);
  }
  await untilAcknowledged(journal, acknowledgedIn(journal) + 200);
  stopped = true;
  await Promise.all(senders);
  return { journal, node };
}

const acknowledgedIn = (journal: readonly Journal[]) =>
  journal.filter(({ acknowledged }) => acknowledged.length > 0).length;

async function untilAcknowledged(journal: readonly Journal[], wanted: number): Promise<void> {
  const until = Date.now() + 30_000;
  while (acknowledgedIn(journal) < wanted) {
    if (Date.now() > until) throw new Error('The service does not get on');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function expectNothingLost(journal: readonly Journal[], node: ServiceProcess): Promise<void> {
  const client = new Client(node.url, KEY);
  for (const { event, acknowledged } of journal) {
    const again = await client.post('/v1/external-events', event);
    // Acknowledged: there, and under the id that was named. Otherwise: sending again settles it.
    if (acknowledged.length > 0) {
      expect([again.status, again.body.original_event_id]).toEqual([200, acknowledged[0]]);
    } else expect([200, 202]).toContain(again.status);
  }
}

describe('kill -9', () => {
  it(`of the service, ${KILLS} times under load, loses no acknowledged event and stores none twice`, async () => {
    const url = await freshDatabaseUrl('kills');
    const environment = { DATABASE_URL: url, BOOTSTRAP_ADMIN_KEY: KEY };
    const { journal, node } = await loadWhile(environment, await startServiceProcess(environment), (old) => old.kill());
    await expectNothingLost(journal, node);
    const stored = await withClient(url, (client) =>
      client.query(
        `SELECT (SELECT count(*)::int FROM events) AS events,
           (SELECT count(*)::int FROM ${EVER_QUEUED_EVENTS} q)
             AS queued`,
      ),
    );
    // Queued with the commit that stored it; some have been processed since.
    expect(stored.rows).toEqual([{ events: journal.length, queued: journal.length }]);
    expect(await node.stop()).toBe(0);
  });

  it('of the service takes its embedded PostgreSQL along, and the next start finds every acknowledged event', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cds-kill-'));
    const environment = { DATA_DIR: dataDir, BOOTSTRAP_ADMIN_KEY: KEY };
    const { journal, node } = await loadWhile(environment, await startServiceProcess(environment), (old) => old.kill());
    await expectNothingLost(journal, node);
    expect(await node.stop()).toBe(0);
    await rm(dataDir, { recursive: true, force: true });
  });
});
