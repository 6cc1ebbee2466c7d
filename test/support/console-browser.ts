import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { sharedApp, startApp, type SharedApp, type TestApp } from './app';
import { Client } from './client';
import { FROM_CONSOLE } from './console';
import { noteSecrets } from './log-watch';
import { sharedInWorker } from './shared';
import { aTenant, type Tenant } from './tenant';

/** Against hanging only: what a page shows later than this, it does not show. */
const SHOWN_MS_MAX = 60_000;
/** Pages are laid out and not looked at: a GPU that is imitated in software takes time from the tests. */
const CHROMIUM_ARGUMENTS = ['--disable-gpu'];
const WIDE = { width: 1280, height: 720 };
const NARROW = { width: 360, height: 800 };

/** A page of the console in a browser that nobody else uses. */
export interface ConsolePage {
  readonly page: Page;
  readonly tenant: Tenant;
  /** The API, called with the key that signed in. */
  readonly client: Client;
}

/** The service and the browser of a spec file. */
export interface ConsoleBrowser {
  readonly service: SharedApp;
  /** An open page of an empty browser. Its addresses are relative to the console: `page.goto('review')`. */
  openPage(): Promise<Page>;
  /** A page with a session: of the given key, or of the admin of a fresh workspace. Opens `path` first. */
  signedIn(options?: { readonly path?: string; readonly tenant?: Tenant; readonly key?: string }): Promise<ConsolePage>;
}

type Environment = Readonly<Record<string, string>>;

/**
 * Gives a spec file the shared browser, and the shared service or one with settings of its own. A test fails if a page of
 * it has violated the content security policy, has thrown, or has written an error to its console. Answers of the API that
 * refuse are no such error.
 */
export function useConsoleBrowser(environment?: () => Promise<Environment>): ConsoleBrowser {
  let service: SharedApp | undefined;
  let own: TestApp | undefined;
  let browser: Browser | undefined;
  let contexts: BrowserContext[] = [];
  let faults: string[] = [];

  beforeAll(async () => {
    const processesEvents = true;
    if (environment !== undefined) own = await startApp(await environment(), undefined, [], { processesEvents });
    service = own ?? (await sharedApp({ processesEvents }));
    ({ browser } = await sharedInWorker('chromium', launchChromium));
  });

  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    const found = faults;
    [contexts, faults] = [[], []];
    expect(found).toEqual([]);
  });

  afterAll(() => own?.stop());

  const openPage = async (): Promise<Page> => {
    const context = await started(browser).newContext({ baseURL: `${started(service).url}/console/` });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(SHOWN_MS_MAX);
    watchFaults(page, (fault) => faults.push(fault));
    return page;
  };

  return {
    get service() {
      return started(service);
    },
    openPage,
    signedIn: async ({ path = '', tenant: given, key: givenKey } = {}) => {
      const tenant = given ?? (await aTenant(started(service).databaseUrl));
      const key = givenKey ?? tenant.adminKey;
      const page = await openPage();
      await takeSession(page, key);
      await page.goto(path);
      await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
      return { page, tenant, client: new Client(started(service).url, key) };
    },
  };
}

async function launchChromium(): Promise<{ readonly browser: Browser; stop(): Promise<void> }> {
  const executablePath = process.env['CHROMIUM_PATH'];
  if (executablePath === undefined) throw new Error('No Chromium was found. Install chromium, or set CHROMIUM_PATH.');
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS });
  return { browser, stop: () => browser.close() };
}

function started<T>(each: T | undefined): T {
  if (each === undefined) throw new Error('The browser and its service run during tests only.');
  return each;
}

/** Signs in without the sign-in page, which sign-in.spec.ts tests: loading it once more for each test took half a second. */
async function takeSession(page: Page, key: string): Promise<void> {
  noteSecrets(key, undefined);
  const answer = await page.request.post('api/session', { headers: FROM_CONSOLE, data: { key } });
  expect(answer.status()).toBe(200);
}

/** Fills in the sign-in page and sends it. */
export async function signIn(page: Page, key: string): Promise<void> {
  noteSecrets(key, undefined);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Without a description of everything that axe found to be right. */
const ALL_RULES = { resultTypes: ['violations'] };
/** The rules whose answer depends on the theme, which changes colours and nothing else. */
const COLOUR_RULES = { ...ALL_RULES, runOnly: ['color-contrast', 'link-in-text-block'] };
/** The shorter form of axe, which a page parses faster. */
const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with a page as it is, in both themes: `expect(await axeOn(page)).toEqual([])`. */
export async function axeOn(page: Page): Promise<string[]> {
  const found: string[] = [];
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const options = JSON.stringify(colorScheme === 'light' ? ALL_RULES : COLOUR_RULES);
    const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${options})`);
    for (const { id, nodes } of violations) {
      found.push(
        ...nodes.map(({ target, failureSummary }) => `${colorScheme}: ${id} ${target.join(' ')} ${failureSummary}`),
      );
    }
  }
  await page.emulateMedia({ colorScheme: null });
  return found;
}

/** `axeOn` at the width of a screen and of a phone, where the page must not be wider than the phone. */
export async function axeInBothWidths(page: Page): Promise<string[]> {
  const before = page.viewportSize() ?? WIDE;
  const found = await axeOn(page);
  await page.setViewportSize(NARROW);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  if (width > NARROW.width) found.push(`The page is ${width} pixels wide on a screen of ${NARROW.width}.`);
  found.push(...(await axeOn(page)).map((each) => `narrow, ${each}`));
  await page.setViewportSize(before);
  return found;
}

function watchFaults(page: Page, note: (fault: string) => void): void {
  page.on('pageerror', (error) => note(`thrown: ${error.message}`));
  // Chromium writes violations of the content security policy there, too.
  page.on('console', (message) => {
    const { url } = message.location();
    if (message.type() === 'error' && !isRefusal(message.text(), url)) note(`console: ${message.text()} ${url}`);
  });
}

/** Chromium notes every answer of 400 and above. */
function isRefusal(text: string, url: string): boolean {
  return /^Failed to load resource: .* status of (?:4\d\d|503)\b/.test(text) && url.includes('/console/api/');
}
