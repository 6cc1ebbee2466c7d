import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedApp, type SharedApp } from '../support/app';
import { runCds, startCds, type Ran } from '../support/cds';
import type { Client } from '../support/client';
import { rowsOf } from '../support/database';
import { aCampaign, set, mutate, type Campaign } from '../support/runtime';
import { until } from '../support/until';

let service: SharedApp;
let folder: string;
let campaign: Campaign;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  folder = await mkdtemp(join(tmpdir(), 'cds-state-'));
});
afterEach(() => rm(folder, { recursive: true }));

function environmentOf({ key = '', url }: Client): Record<string, string> {
  return { CDS_API_KEY: key, CDS_URL: url };
}

const exported = (args: readonly string[], by: Client = campaign.workspace.admin): Promise<Ran> =>
  runCds(environmentOf(by), ['state', 'export', '--campaign', campaign.campaignId, ...args]);

async function participants(count: number): Promise<void> {
  await rowsOf(
    service.databaseUrl,
    `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
     SELECT $1, 'p' || n, $2, jsonb_build_object('points', n), '{}', now() FROM generate_series(1, $3::int) n`,
    [campaign.workspace.tenantId, campaign.campaignId, count],
  );
}

describe('cds state export', () => {
  it('writes every participant over many pages, as the list shows them, and says how many', async () => {
    await campaign.define('state.user.points', 'number');
    await participants(450);
    const file = join(folder, 'state.ndjson');
    const { code, out, said } = await exported(['--output', file]);
    expect([code, out, said]).toEqual([0, '', `450 participants of ${campaign.campaignId} written to ${file}.\n`]);
    const lines = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line): any => JSON.parse(line));
    expect(new Set(lines.map(({ sub }) => sub)).size).toBe(450);
    for (const { sub, state } of lines) {
      expect(state).toEqual({ user: { points: Number(sub.slice(1)) }, system: { sessionId: null } });
    }
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['state.ndjson']);
  });

  it('writes CSV with a column for each declared variable of the participant, and no formula', async () => {
    for (const [name, type] of Object.entries({ text: 'string', points: 'number', vip: 'boolean', gone: 'string' })) {
      await campaign.define(`state.user.${name}`, type);
    }
    await campaign.define('state.campaign.total', 'number');
    await campaign.archive('state.user.gone');
    const put = (sub: string, ...ops: object[]) => mutate(campaign.participant({ sub }), ops);
    await put('ann', set('state.user.text', '=HYPERLINK("x")'), set('state.user.points', -1.5));
    await put('b,"o"b', set('state.user.text', ''), set('state.user.vip', true));
    await put('+49170', set('state.user.text', 'two\nlines'));
    const header = 'sub,user.points,user.text,user.vip';
    const { code, out } = await exported(['--format', 'csv']);
    expect(code).toBe(0);
    expect(out.split('\r\n')).toEqual([
      ...[header, `'+49170,,"two\nlines",`, `"b,""o""b",,"",true`, `ann,-1.5,"'=HYPERLINK(""x"")",`],
    ]);
    const exact = await exported(['--format', 'csv', '--exact']);
    expect(exact.out.split('\r\n')).toEqual([
      ...[header, `+49170,,"two\nlines",`, `"b,""o""b",,"",true`, `ann,-1.5,"=HYPERLINK(""x"")",`],
    ]);
  });

  it('writes the header alone where nobody has a value, and nothing as NDJSON', async () => {
    await campaign.define('state.user.points', 'number');
    expect((await exported(['--format', 'csv'])).out).toBe('sub,user.points');
    expect(await exported([])).toMatchObject({ code: 0, out: '' });
  });

  it('replaces no file unless it is told to, and then with one that only its owner can read', async () => {
    await campaign.define('state.user.points', 'number');
    await participants(1);
    const file = join(folder, 'state.ndjson');
    await writeFile(file, 'mine');
    await chmod(file, 0o644);
    const refused = await exported(['--output', file]);
    expect([refused.code, refused.said]).toEqual([2, expect.stringContaining('--force')]);
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect((await exported(['--output', file, '--force'])).code).toBe(0);
    expect(JSON.parse(await readFile(file, 'utf8')).sub).toBe('p1');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['state.ndjson']);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('leaves nothing behind when it is interrupted (%s)', async (signal) => {
    const { url, asked, close } = await aServiceThatStalls();
    const file = join(folder, 'state.ndjson');
    const { child, ended } = startCds({ CDS_API_KEY: 'key', CDS_URL: url }, [
      ...['state', 'export', '--campaign', 'spring', '--output', file],
    ]);
    await until(() => asked() === 2);
    child.kill(signal);
    expect(await ended).toMatchObject({ code: 130, said: expect.stringContaining('Interrupted') });
    expect(await readdir(folder)).toEqual([]);
    await close();
  });

  it('leaves no file under its name when it is killed, nor when the service fails', async () => {
    const { url, asked, close } = await aServiceThatStalls();
    const file = join(folder, 'state.ndjson');
    const { child, ended } = startCds({ CDS_API_KEY: 'key', CDS_URL: url }, [
      ...['state', 'export', '--campaign', 'spring', '--output', file],
    ]);
    await until(() => asked() === 2);
    child.kill('SIGKILL');
    await ended;
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^state\.ndjson\.[0-9a-f-]{36}\.part$/)]);
    await close();
    const failed = await runCds({ CDS_API_KEY: 'key', CDS_URL: url }, [
      ...['state', 'export', '--campaign', 'spring', '--output', join(folder, 'other'), '--retry-for', '1s'],
    ]);
    expect([failed.code, failed.said]).toEqual([1, expect.stringContaining('No service answers')]);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('says what the key lacks, and takes none among the arguments', async () => {
    const reader = await campaign.workspace.client({ scopes: ['state:read'] });
    expect((await exported([], reader)).code).toBe(0);
    const csv = await exported(['--format', 'csv'], reader);
    expect([csv.code, csv.said]).toEqual([1, expect.stringContaining('variables:read')]);
    expect(await exported(['--key', 'secret'])).toMatchObject({
      code: 2,
      said: expect.stringContaining('CDS_API_KEY'),
    });
    const none = await runCds({ CDS_URL: service.url }, ['state', 'export', '--campaign', 'x']);
    expect([none.code, none.said]).toEqual([2, expect.stringContaining('state:read')]);
    const odd = await runCds(environmentOf(campaign.workspace.admin), ['state', 'export', '--campaign', '../x']);
    expect([odd.code, odd.said]).toEqual([1, expect.stringContaining('campaign_id')]);
  });

  it('writes 80 MB with a heap of 48 MB, of which the program itself takes 28', async () => {
    await campaign.define('state.user.note', 'string');
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
       SELECT $1, 'p' || n, $2, jsonb_build_object('note', repeat('x', 4000)), '{}', now() FROM generate_series(1, 20000) n`,
      [campaign.workspace.tenantId, campaign.campaignId],
    );
    const file = join(folder, 'state.ndjson');
    const environment = { ...environmentOf(campaign.workspace.admin), NODE_OPTIONS: '--max-old-space-size=48' };
    const { code, said } = await runCds(environment, [
      'state',
      'export',
      '--campaign',
      campaign.campaignId,
      '--output',
      file,
    ]);
    expect(code === 0 ? '' : said).toBe('');
    expect((await stat(file)).size).toBeGreaterThan(80_000_000);
    expect(spawnSync('wc', ['-l', file]).stdout.toString()).toContain('20000 ');
  });
});

/** Answers one page, and never the next one. */
async function aServiceThatStalls() {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    if (asked > 1) return;
    const items = [{ sub: 'ann', state: { user: { points: 1 }, system: { sessionId: null } } }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items, nextCursor: 'next' }));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
