import { sharedApp, type SharedApp } from '../support/app';
import { INGEST_FAMILIES, registerTypes, type IngestFamily } from '../support/builders';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { bearer, expectRefusals, expectRefusalsBeforeBody } from '../support/matrix';
import { operationsOf, type Operation } from '../support/operations';

/** Keys that may send one source only, at every operation that takes events. */

let service: SharedApp;
let workspace: Workspace;
let operations: readonly Operation[];
let limited: Client;

beforeAll(async () => {
  service = await sharedApp();
  workspace = await aWorkspace(service);
  await registerTypes(workspace.admin);
  limited = await workspace.client({ sources: ['shop'] });
  const takesEvents = ({ scope }: Operation): boolean => /-events:write$/.test(scope ?? '');
  operations = (await operationsOf(service.url)).filter(takesEvents);
});

const singlesAndBatches = INGEST_FAMILIES.flatMap(({ path, batchPath }) => [`POST ${path}`, `POST ${batchPath}`]);
const storedBy = async (source: string): Promise<number> =>
  (await workspace.admin.get(`/v1/events?source=${source}`)).body.items.length;

it('every operation that takes events is looked at here', () => {
  expect(operations.map(({ name }) => name).sort()).toEqual(singlesAndBatches.sort());
});

describe.each(INGEST_FAMILIES)('a key that may send one source, $family events', ({ path, batchPath, anEvent }) => {
  const operation = (at: string): Operation => operations.find((each) => each.path === at)!;

  it.each(['another', 'Shop', 'shop ', 'shop.eu'])('is refused with the source "%s", live and dry', async (source) => {
    const body = JSON.stringify(anEvent({ source }));
    for (const query of [undefined, 'dry_run=true']) {
      await expectRefusals(service.url, limited.key!, [operation(path)], {
        code: 'source_not_allowed',
        attempt: (key) => ({ ...bearer(key), body, ...(query === undefined ? {} : { query }) }),
      });
    }
    expect(await storedBy(encodeURIComponent(source))).toBe(0);
  });

  it('is refused item by item in a batch, whose other items are taken', async () => {
    const items = ['shop', 'another', 'shop'].map((source) => anEvent({ source }));
    const { status, body } = await limited.post(batchPath, { items });
    const told = body.results.map((result: any) => result.error_code ?? result.status);
    expect([status, told]).toEqual([200, ['accepted', 'source_not_allowed', 'accepted']]);
    expect(await storedBy('another')).toBe(0);
  });

  it('is let in with its own source', async () => {
    expect((await limited.post(path, anEvent({ source: 'shop' }))).status).toBe(202);
  });

  it('is refused for its scope before its source, and before the body', async () => {
    const scopes = ['events:read'] as const;
    const { key } = await workspace.client({ sources: ['shop'], scopes });
    const column = { code: 'insufficient_scope', attempt: (): ReturnType<typeof bearer> => bearer(key!) } as const;
    await expectRefusals(service.url, undefined, [operation(path), operation(batchPath)], column);
    await expectRefusalsBeforeBody(service.url, undefined, [operation(path), operation(batchPath)], column);
  });
});

it('a key that may send no source at all sends none', async () => {
  const nothing = await workspace.client({ sources: [] });
  const send = async ({ path, anEvent }: IngestFamily) => (await nothing.post(path, anEvent())).body.error_code;
  expect(await Promise.all(INGEST_FAMILIES.map(send))).toEqual(['source_not_allowed', 'source_not_allowed']);
});
