import { sharedApp, type SharedApp } from '../support/app';
import { expectEntry, expectRefusals, expectRefusalsBeforeBody, requestOf } from '../support/matrix';
import { operationsOf, type Operation } from '../support/operations';
import {
  belowConsole,
  browserMeans,
  REFUSED_SESSIONS,
  withCookie,
  type BrowserMeans,
} from '../support/refused-sessions';

/** Every operation of the OpenAPI document below the console, against everything that is no session with its scopes. */

let service: SharedApp;
let means: BrowserMeans;
let backend: readonly Operation[];
let participant: readonly Operation[];

beforeAll(async () => {
  service = await sharedApp();
  means = await browserMeans(service);
  const operations = belowConsole(await operationsOf(service.url));
  backend = operations.filter(({ callers }) => callers === 'backend' || callers === 'signing backend');
  participant = operations.filter(({ callers }) => callers === 'participant');
});

describe('every operation for backends, below the console', () => {
  it.each(Object.entries(REFUSED_SESSIONS))(
    'refuses %s, before a byte of the body has arrived',
    async (_name, column) => {
      await expectRefusals(service.url, means, backend, column);
      await expectRefusalsBeforeBody(service.url, means, backend, column);
    },
  );

  it('lets in a session with just the scopes it takes', async () => {
    await expectEntry(service.url, backend, async ({ scope = 'admin', furtherScopes }) => {
      return withCookie(await means.cookieWith(scope, ...furtherScopes));
    });
  });

  it('refuses a request of another site with the cookie of an administrator', async () => {
    const answers = backend.map(async (operation) => {
      const { method, target, body } = requestOf(operation);
      const { status } = await fetch(`${service.url}${target}`, {
        method,
        headers: { cookie: means.adminCookie, 'sec-fetch-site': 'cross-site', 'x-cds-console': '1' },
        ...(body === '' ? {} : { body }),
      });
      return [operation.name, status];
    });
    expect(await Promise.all(answers)).toEqual(backend.map(({ name }) => [name, 403]));
  });
});

describe('every operation for participants, below the console', () => {
  it('refuses sessions, and tokens beside them', async () => {
    for (const authorization of [undefined, `Bearer ${means.issuer.token()}`]) {
      await expectRefusals(service.url, means, participant, {
        code: 'unauthenticated',
        attempt: ({ adminCookie }) => ({ headers: { ...withCookie(adminCookie).headers, authorization } }),
      });
    }
  });
});
