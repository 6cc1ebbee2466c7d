import { join } from 'node:path';
import { runDemo } from '../../src/demo/run-demo';
import { runScript } from '../support/cds';
import { aWorkspace } from '../support/client';
import { freshDatabaseUrl } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';

const DEMO = join(__dirname, '..', '..', 'dist', 'demo.js');
const START_MS_MAX = 300_000;
const DEMO_MS_MAX = 300_000;

let databaseUrl: string;
let service: ServiceProcess;

beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl('demo');
  service = await startServiceProcess({ DATABASE_URL: databaseUrl });
}, START_MS_MAX);

afterAll(async () => {
  await service.stop();
}, START_MS_MAX);

async function demo(
  batch: number,
  concurrency: number,
  key = service.adminKey,
): Promise<{ isRight: boolean; text: string }> {
  const lines: string[] = [];
  const { url } = service;
  const isRight = await runDemo({ url, key, batch, concurrency, out: (text) => lines.push(text) });
  return { isRight, text: lines.join('\n') };
}

/** The row of the printed table that begins with `name`: first run, second run, what the file says. */
function row(text: string, name: string): string[] | undefined {
  const rows = text.split('\n').map((line) => line.split('│').map((cell) => cell.trim()));
  return rows.find((cells) => cells[1] === name)?.slice(2, -1);
}

function expectFigures(text: string): void {
  const inAllColumns = (figure: string): string[] => [figure, figure, figure];
  expect(row(text, 'error')).toEqual(['0', '0', '']);
  expect(row(text, 'purchases')).toEqual(inAllColumns('6,919'));
  expect(row(text, 'customers')).toEqual(inAllColumns('2,357'));
  expect(row(text, 'CDs')).toEqual(inAllColumns('16,479'));
  expect(row(text, 'dollars')).toEqual(inAllColumns('244,091.94'));
  expect(row(text, 'revenue of the campaign')).toEqual(inAllColumns('244,091.94'));
  expect(row(text, '1997-01')).toEqual(inAllColumns('28,592.70'));
  expect(row(text, '1997-03')).toEqual(inAllColumns('43,472.10'));
  expect(row(text, '1998-06')).toEqual(inAllColumns('5,590.87'));
  expect(text).toContain('The runs agree');
}

describe('npm run demo', () => {
  it.each([
    ['> /dev/full', 1, 'Standard output cannot be written (ENOSPC).\n'],
    ['| true', 141, ''],
  ])('ends in words where its output is not taken: %s', async (where, code, said) => {
    const ran = await runScript({}, `${process.execPath} ${DEMO} --help ${where}; exit "\${PIPESTATUS[0]}"`);
    expect(ran).toMatchObject({ code, said });
  });

  it(
    'sends 6,919 real purchases twice, and each of them counts once, to the cent',
    async () => {
      const { isRight, text } = await demo(200, 2);
      expect(row(text, 'accepted')).toEqual(['6,919', '0', '']);
      expect(row(text, 'duplicate')).toEqual(['0', '6,919', '']);
      expectFigures(text);
      expect(text).toContain('13,838 received = 6,919 accepted + 6,919 duplicate + 0 rejected.');
      expect(text).not.toContain('had these events already');
      expect(isRight).toBe(true);

      const again = await demo(500, 4);
      expect(row(again.text, 'accepted')).toEqual(['0', '0', '']);
      expect(row(again.text, 'duplicate')).toEqual(['6,919', '6,919', '']);
      expectFigures(again.text);
      expect(again.text).toContain('13,838 received = 0 accepted + 13,838 duplicate + 0 rejected.');
      expect(again.text).toContain('The service had these events already');
      expect(again.isRight).toBe(true);
    },
    DEMO_MS_MAX,
  );

  it(
    'leaves the campaign out for a key that may not declare one, and says that it came after the events',
    async () => {
      const workspace = await aWorkspace({ url: service.url, databaseUrl });
      const { key } = await workspace.client({ scopes: ['event-types:write', 'cdp-events:write'] });
      const narrow = await demo(500, 4, key);
      expect(narrow.text).toMatch(/Without state\.campaign\.revenue .*403 insufficient_scope/);
      expect(row(narrow.text, 'revenue of the campaign')).toEqual(['-', '-', '244,091.94']);
      expect(narrow.isRight).toBe(true);

      const late = await demo(500, 4, workspace.admin.key);
      expect(late.text).toMatch(/Without state\.campaign\.revenue .*declared after the events had come/);
      expect(late.isRight).toBe(true);
    },
    DEMO_MS_MAX,
  );
});
