import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { faultsOf, type Answer } from '../support/client';
import { signedIn } from '../support/console';
import { operationsOf, type Operation } from '../support/operations';
import {
  ask,
  fill,
  foldersOf,
  FREE_NAMES,
  SHARED_SCOPE,
  ownWords,
  steady,
  twins,
  viewOf,
  type Filled,
  type Twin,
} from '../support/twins';
import { until } from '../support/until';

/** Two workspaces and every operation of the OpenAPI document: what one has, the other can neither see nor feel. */

let service: SharedApp;
let operations: readonly Operation[];
let one: Twin;
let other: Twin;
let ofOne: Filled;
let ofOther: Filled;

beforeAll(async () => {
  service = await sharedApp({ processesEvents: true });
  // What anybody may see is about no workspace.
  operations = (await operationsOf(service.url)).filter(({ callers }) => callers !== 'anybody');
  [one, other] = await twins(service);
  [ofOne, ofOther] = await Promise.all([fill(one), fill(other)]);
});

/** A right value of a filter. */
function filterOf({ path }: Operation, name: string): string {
  if (name === 'state' && path.includes('deliveries')) return 'pending';
  if (name === 'state') return path.includes('api-keys') ? 'ACTIVE' : 'queued';
  const known: Readonly<Record<string, string>> = {
    order: 'asc',
    family: 'cdp',
    status: 'open',
    stage: 'contract',
    name: 'other',
    app_id: 'other',
    kind: 'erasure',
    recordId: '00000000-0000-4000-8000-000000000000',
  };
  return known[name] ?? '2026-01-02T03:04:05Z';
}

/** Views without what only time changes. */
const lasting = (views: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...views].map(([name, view]) => [name, view.replace(/"processedLastMinute":\d+/, '')]));

const addressed = (): readonly Operation[] => operations.filter(({ parameters }) => parameters.length > 0);
const lists = (): readonly Operation[] => operations.filter(({ query }) => query.includes('cursor'));
/** It leads to a record, which has to be there. */
const isOfRecord = (operation: Operation): boolean => !FREE_NAMES.includes(foldersOf(operation).at(-1)!);
/** Names of the same form as those of a workspace, which nobody has ever made. */
const neverMade = (filled: Filled): Filled =>
  Object.fromEntries(
    Object.entries(filled).map(([folder, name]) => [
      folder,
      name === SHARED_SCOPE ? name : name.startsWith('mark-') ? `mark-${randomUUID().slice(-12)}` : randomUUID(),
    ]),
  );

/** Without what differs by right: the request and the names that were asked for. */
function comparable({ status, headers, body }: Answer, asked: Filled): unknown[] {
  const text = JSON.stringify({ ...body, request_id: undefined });
  const plain = Object.entries(asked).reduce((told, [folder, name]) => told.replaceAll(name, `<${folder}>`), text);
  const changing = ['date', 'x-request-id', 'content-length', 'etag'];
  return [status, JSON.parse(plain), [...headers].filter(([name]) => !changing.includes(name))];
}

describe('two workspaces', () => {
  it('are filled with a record of each kind that an address can lead to', () => {
    const missing = addressed().flatMap(foldersOf);
    expect([...new Set(missing)].filter((folder) => ofOne[folder] === undefined)).toEqual([]);
    expect(Object.keys(ofOne).filter((folder) => !missing.includes(folder) && folder !== 'event-types')).toEqual([]);
  });

  it('are shown what is theirs by every read, and nothing of each other', async () => {
    const [empty] = await twins(service);
    const [views, foreign] = [await viewOf(one, operations, ofOne), await viewOf(other, operations, ofOther)];
    const foreignWords = ownWords([...foreign.values()].join(), other);
    for (const operation of operations.filter(({ name }) => views.has(name))) {
      const view = views.get(operation.name)!;
      const own = ownWords(view, one);
      const { body: nothing } = await ask(empty, operation, ofOne);
      const isAboutOne = own.size > 0 || view !== steady(nothing);
      expect([operation.name, isAboutOne]).toEqual([operation.name, true]);
      const shared = [...own].filter((word) => foreignWords.has(word));
      expect([operation.name, shared, view.includes(other.mark)]).toEqual([operation.name, [], false]);
    }
  });

  it('are shown the same as before, whatever happens in the other, under the same names too', async () => {
    const [still, busy] = await twins(service);
    const filled = await fill(still);
    // On a cluster it first lets five seconds pass, in which clocks of nodes may differ.
    const backfill = `/v1/campaigns/${still.mark}/reactions/${still.mark}/backfills/${filled['backfills']}`;
    await until(async () => (await still.admin.get(backfill)).body.state === 'done');
    const before = await viewOf(still, operations, filled);
    await fill(busy);
    await fill({ ...busy, mark: still.mark });
    expect(lasting(await viewOf(still, operations, filled))).toEqual(lasting(before));
  });

  it('leaf through lists of their own, page by page, whatever lies between', async () => {
    for (const list of lists()) {
      const whole = (await ask(one, list, ofOne, '?limit=200')).body.items;
      expect([list.name, whole.length > 1]).toEqual([list.name, true]);
      const leafed: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null && leafed.length <= whole.length;) {
        const { body }: Answer = await ask(one, list, ofOne, `?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect([list.name, body.items.length]).toEqual([list.name, 1]);
        leafed.push(...body.items);
        cursor = body.nextCursor;
      }
      expect([list.name, steady(leafed)]).toEqual([list.name, steady(whole)]);
    }
  });

  it('take a cursor for the list, the filters and the workspace that it was given out for, and for nothing else', async () => {
    const isRefused = ({ status, body }: Answer): boolean =>
      status === 422 && faultsOf(body).includes('cursor format') && !JSON.stringify(body).includes(one.mark);
    const odd: string[] = [];
    for (const list of lists()) {
      const { nextCursor } = (await ask(one, list, ofOne, '?limit=1')).body;
      const asked = `?limit=1&cursor=${nextCursor}`;
      const goesOn = (await ask(one, list, ofOne, asked)).status === 200;
      if (!goesOn) odd.push(`${list.name} does not go on`);
      const strange = [
        ['another workspace', await ask(other, list, ofOther, asked)] as const,
        ...(await Promise.all(
          lists().flatMap((each) =>
            each === list ? [] : [ask(one, each, ofOne, asked).then((answer) => [each.name, answer] as const)],
          ),
        )),
        ...(await Promise.all(
          list.query
            .filter((name) => !['limit', 'cursor', 'unmask'].includes(name))
            .map(
              async (name) =>
                [`?${name}=`, await ask(one, list, ofOne, `${asked}&${name}=${filterOf(list, name)}`)] as const,
            ),
        )),
      ];
      odd.push(
        ...strange.filter(([, answer]) => !isRefused(answer)).map(([where]) => `${list.name} goes on in ${where}`),
      );
    }
    expect(odd).toEqual([]);
  });
});

describe('a session of the console', () => {
  /** The same person, who has signed in with the key. */
  const inConsole = async (twin: Twin): Promise<Twin> => {
    return { ...twin, admin: await signedIn(service.url, twin.admin.key!) };
  };
  const backend = (): readonly Operation[] => operations.filter(({ callers }) => callers !== 'participant');

  it('is shown by every read what its key is shown', async () => {
    const withKey = await viewOf(one, backend(), ofOne);
    expect(lasting(await viewOf(await inConsole(one), backend(), ofOne))).toEqual(lasting(withKey));
  });

  it('finds a record of another workspace by no operation, and changes nothing there', async () => {
    const before = await viewOf(one, operations, ofOne);
    const [session, never] = [await inConsole(other), neverMade(ofOne)];
    for (const operation of backend().filter(({ parameters }) => parameters.length > 0)) {
      const foreign = await ask(session, operation, ofOne);
      const unknown = await ask(session, operation, never);
      expect([operation.name, comparable(foreign, ofOne)]).toEqual([operation.name, comparable(unknown, never)]);
      if (isOfRecord(operation)) expect([operation.name, foreign.status]).toEqual([operation.name, 404]);
    }
    expect(lasting(await viewOf(one, operations, ofOne))).toEqual(lasting(before));
  });
});

describe('an address of a record of one workspace', () => {
  it('is to the other one like an address that never was, by every operation, which changes nothing', async () => {
    const before = await viewOf(one, operations, ofOne);
    const never = neverMade(ofOne);
    for (const operation of addressed()) {
      const foreign = await ask(other, operation, ofOne);
      const unknown = await ask(other, operation, never);
      expect([operation.name, comparable(foreign, ofOne)]).toEqual([operation.name, comparable(unknown, never)]);
      if (isOfRecord(operation)) expect([operation.name, foreign.status]).toEqual([operation.name, 404]);
    }
    expect(lasting(await viewOf(one, operations, ofOne))).toEqual(lasting(before));
  });

  it('is in the address of the other one as unknown as elsewhere, where an address leads to two', async () => {
    for (const operation of addressed().filter((each) => each.parameters.length > 1)) {
      const folders = foldersOf(operation);
      for (const folder of folders) {
        const mixed = { ...ofOther, [folder]: ofOne[folder]! };
        const unknown = { ...ofOther, [folder]: neverMade(ofOne)[folder]! };
        expect([operation.name, comparable(await ask(other, operation, mixed), mixed)]).toEqual([
          operation.name,
          comparable(await ask(other, operation, unknown), unknown),
        ]);
      }
    }
  });

  it('leads its own workspace there by every operation', async () => {
    // Records are read first and deleted last.
    const turnOf = ({ method }: Operation): number => ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].indexOf(method);
    for (const operation of addressed().toSorted((a, b) => turnOf(a) - turnOf(b))) {
      const { status } = await ask(one, operation, ofOne);
      expect([operation.name, status === 404 || status === 401]).toEqual([operation.name, false]);
    }
  });
});
