import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { anExternalEvent } from '../support/builders';
import { runCds } from '../support/cds';
import { Client, expectProblem } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aFullPerson, preparePersons } from '../support/persons';
import { anHmacSigner, sendSigned } from '../support/signatures';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';

const ONE = 'the-first-secrets-key-of-40-characters-xx';
const OTHER = 'another-secrets-key-of-40-characters-xxxx';
const SERVICE = { DEFAULT_PHONE_REGION: 'DE', BOOTSTRAP_ADMIN_KEY: 'secrets-admin-key-secrets-admin-key-secrets' };
const EVENTS = '/v1/external-events';

/** Erases somebody; answers what their device would send afterwards. */
async function eraseSomebody({ url, adminKey }: ServiceProcess): Promise<Record<string, unknown>> {
  const admin = new Client(url, adminKey);
  await preparePersons(admin);
  const person = await aFullPerson(admin);
  expect((await admin.send(`/v1/cdp/profiles/${person.profileId}:erase`, undefined)).status).toBe(200);
  return anExternalEvent({ identity: { type: 'DEVICE', value: person.device } });
}

describe('a service whose key was lost', () => {
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'cds-lost-key-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it('does not start, nor do its commands, until the key is back, and takes no events of erased persons', async () => {
    const service = await startServiceProcess({ ...SERVICE, DATA_DIR: dataDir });
    const event = await eraseSomebody(service);
    await service.stop();
    const file = join(dataDir, 'secrets.key');
    await rename(file, `${file}.aside`);
    await expect(startServiceProcess({ ...SERVICE, DATA_DIR: dataDir })).rejects.toThrow(/secrets\.key is missing/);
    const command = ['keys', 'create', '--name', 'x', '--scope', 'admin'];
    const refused = await runCds({ DATA_DIR: dataDir }, command);
    expect([refused.code, refused.out, refused.said]).toEqual([
      1,
      '',
      expect.stringContaining('secrets.key is missing'),
    ]);
    expect(existsSync(file)).toBe(false);
    await rename(`${file}.aside`, file);
    const back = await startServiceProcess({ ...SERVICE, DATA_DIR: dataDir });
    expectProblem(await new Client(back.url, back.adminKey).post(EVENTS, event), 409, 'profile_erased');
    await back.stop();
  });

  it('goes on without it once somebody accepts the loss, and what that means comes true', async () => {
    const file = join(dataDir, 'secrets.key');
    const lost = await readFile(file, 'utf8');
    await rm(file);
    const asked = await runCds({ DATA_DIR: dataDir }, ['secrets', 'accept-key']);
    expect([asked.code, asked.out, existsSync(file)]).toEqual([1, '', false]);
    expect(asked.said).toMatch(/4 identifiers of erased persons: .* accepted again\nNothing was changed/);
    const accepted = await runCds({ DATA_DIR: dataDir }, ['secrets', 'accept-key', '--accept-loss']);
    expect([accepted.code, accepted.said]).toEqual([0, expect.stringContaining('The key in force is the one of this')]);
    expect(await readFile(file, 'utf8')).not.toBe(lost);
    const again = await runCds({ DATA_DIR: dataDir }, ['secrets', 'accept-key', '--accept-loss']);
    expect([again.code, again.said]).toEqual([0, expect.stringContaining('Nothing was changed.')]);
    const service = await startServiceProcess({ ...SERVICE, DATA_DIR: dataDir });
    await service.stop();
  });
});

it('nodes of one database need one key: another one is refused, and what it protects stays readable', async () => {
  const shared = { ...SERVICE, DATABASE_URL: await freshDatabaseUrl('one_key') };
  const one = await startServiceProcess({ ...shared, SECRETS_KEY: ONE });
  const signer = await anHmacSigner(new Client(one.url, one.adminKey));
  await expect(startServiceProcess({ ...shared, SECRETS_KEY: OTHER })).rejects.toThrow(/SECRETS_KEY is not the key/);
  await expect(startServiceProcess(shared)).rejects.toThrow(/SECRETS_KEY is not set/);
  const asked = await runCds({ DATABASE_URL: shared.DATABASE_URL, SECRETS_KEY: OTHER }, ['secrets', 'accept-key']);
  expect([asked.code, asked.said]).toEqual([1, expect.stringContaining('1 secrets of service credentials')]);
  const fitting = await runCds({ DATABASE_URL: shared.DATABASE_URL, SECRETS_KEY: ONE }, ['secrets', 'accept-key']);
  expect([fitting.code, fitting.said]).toEqual([0, expect.stringMatching(/^The key in force is the one that this/)]);
  const second = await startServiceProcess({ ...shared, SECRETS_KEY: ONE, ROLE: 'api' });
  const request = { method: 'POST', target: EVENTS, body: JSON.stringify(anExternalEvent()) };
  expect((await sendSigned(second.url, signer, request)).status).toBe(202);
  await Promise.all([one.stop(), second.stop()]);
});

it('a service that has waited for migrations asks for the key before it serves; who only looks runs none', async () => {
  const url = await freshDatabaseUrl('late_key');
  const one = await startServiceProcess({ ...SERVICE, DATABASE_URL: url, SECRETS_KEY: ONE });
  await anHmacSigner(new Client(one.url, one.adminKey));
  await one.stop();
  // As a version has left it that did not know of the check.
  await rowsOf(url, `DELETE FROM migrations WHERE name = 'SecretsKeyCheck1764000000015'`);
  await rowsOf(url, 'DROP TABLE secrets_key_checks');
  const asked = await runCds({ DATABASE_URL: url, SECRETS_KEY: OTHER }, ['secrets', 'accept-key']);
  expect([asked.code, asked.said]).toEqual([1, expect.stringContaining('1 migrations of this version are pending')]);
  const late = { ...SERVICE, DATABASE_URL: url, SECRETS_KEY: OTHER, MIGRATE_ON_START: 'false' };
  const waiting = await startServiceProcess(late);
  const ended = once(waiting.child, 'exit');
  await migrate({ url });
  expect(await ended).toEqual([1, null]);
  expect(waiting.output()).toMatch(/The service cannot start\. SECRETS_KEY is not the key/);
});
