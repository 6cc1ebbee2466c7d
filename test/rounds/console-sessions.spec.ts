import { ConsoleSessions } from '../../src/console/console-sessions';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, type Workspace } from '../support/client';
import { type Browser, signedIn } from '../support/console';
import { rowsOf } from '../support/database';
import { setAhead } from '../support/test-clock';

/*
 * Sessions of the console that are used, proven or ended while another request, or the job that removes ended ones, has read them.
 */

const MINUTES_OF_DAY = 24 * 60;
const SESSIONS_MAX = 20;

let service: TestApp;
let sessions: ConsoleSessions;
let workspace: Workspace;
let browser: Browser;

beforeAll(async () => {
  service = await startApp();
  sessions = service.app.get(ConsoleSessions);
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  browser = await signedIn(service.url, workspace.admin.key!);
});
afterEach(() => {
  jest.restoreAllMocks();
  setAhead(service.app, 0);
});
afterAll(() => service.stop());

/** So many minutes from now. */
const at = (minutes: number): void => setAhead(service.app, minutes / MINUTES_OF_DAY);

/** Calls `then` behind the call of a method with this number, from now on, before it resolves. */
function behind(method: 'withRights' | 'readWanted', number: number, then: () => Promise<unknown>): void {
  const run = (sessions as any)[method].bind(sessions) as (...asked: unknown[]) => Promise<unknown>;
  let calls = 0;
  jest.spyOn<any, string>(sessions, method).mockImplementation(async (...asked: unknown[]) => {
    const result = await run(...asked);
    calls += 1;
    if (calls === number) await then();
    return result;
  });
}

const signOut = async (): Promise<void> => {
  await rowsOf(service.databaseUrl, 'DELETE FROM console_sessions WHERE tenant_id = $1', [workspace.tenantId]);
};

it('are not proven behind their end', async () => {
  // The first one is that of the guard.
  behind('withRights', 2, signOut);
  const { status } = await browser.post('/session:prove', { key: workspace.admin.key });
  expect(status).toBe(401);
});

it('are not used behind their end', async () => {
  at(1);
  behind('withRights', 1, signOut);
  expect((await browser.get('/session')).status).toBe(401);
});

it('are not removed as ended where they were used meanwhile', async () => {
  at(29.9);
  const remove = (sessions as any).removeUnused.bind(sessions) as (rows: unknown) => Promise<void>;
  let found: () => void = () => undefined;
  const isFound = new Promise<void>((resolve) => (found = resolve));
  let used: () => void = () => undefined;
  const isUsed = new Promise<void>((resolve) => (used = resolve));
  jest.spyOn<any, string>(sessions, 'removeUnused').mockImplementationOnce(async (rows: unknown) => {
    found();
    await isUsed;
    await remove(rows);
  });
  let removing: Promise<unknown> = Promise.resolve();
  behind('withRights', 1, async () => {
    at(30.1);
    removing = sessions.removeEnded();
    await isFound;
  });
  expect((await browser.get('/session')).status).toBe(200);
  used();
  await removing;
  expect((await browser.get('/session')).status).toBe(200);
});

it('are not removed as the oldest ones where they were used meanwhile', async () => {
  for (let others = 1; others < SESSIONS_MAX; others += 1) {
    at(others);
    await signedIn(service.url, workspace.admin.key!);
  }
  at(SESSIONS_MAX);
  const remove = (sessions as any).removeUnused.bind(sessions) as (rows: unknown) => Promise<void>;
  jest.spyOn<any, string>(sessions, 'removeUnused').mockImplementationOnce(async (rows: unknown) => {
    expect((await browser.get('/session')).status).toBe(200);
    await remove(rows);
  });
  await signedIn(service.url, workspace.admin.key!);
  expect((await browser.get('/session')).status).toBe(200);
});
