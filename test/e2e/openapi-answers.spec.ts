import { sharedApp, type SharedApp } from '../support/app';
import { Client } from '../support/client';
import { addressOf, operationsOf, type Operation } from '../support/operations';
import { aTenant } from '../support/tenant';
import { fill, foldersOf, twins, type Filled, type Twin } from '../support/twins';

let service: SharedApp;
let document: any;
let operations: readonly Operation[];
let twin: Twin;
let filled: Filled;
let poorKey: string;

beforeAll(async () => {
  service = await sharedApp({ processesEvents: true });
  document = (await new Client(service.url, undefined).get('/docs-json')).body;
  operations = await operationsOf(service.url);
  [twin] = await twins(service);
  filled = await fill(twin);
  poorKey = await (await aTenant(service.databaseUrl)).key({ scopes: ['state:read'] });
});

interface Request {
  readonly key?: string | undefined;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly names?: Filled;
}

/** Odd in each way that a request can be, as far as the operation has that way. */
function oddRequests(operation: Operation): Request[] {
  const key = (operation.callers === 'participant' ? twin.participant(twin.mark) : twin.admin).key;
  const other = operation.callers === 'participant' ? twin.admin.key : twin.participant().key;
  const { body } = operation;
  const callers = [{}, { key: 'cds_nonsense' }, { key: other }, { key: poorKey }].map((caller) => ({
    ...caller,
    body,
  }));
  const bodies: Request[] = ['{', '[]', '{"surely_unknown":1}', `"${'x'.repeat(300_000)}"`].map((text) => ({
    body: text,
  }));
  const types = [{ 'content-type': 'text/plain' }, { 'content-encoding': 'br' }].map((headers) => ({ headers, body }));
  return [
    ...callers,
    ...[...(body === '' ? [] : [...bodies, ...types])].map((odd) => ({ key, ...odd })),
    ...['', '?limit=0', '?surely_unknown=1', '?unmask=maybe', '?dry_run=maybe'].map((query) => ({ key, query, body })),
    ...['x', '-x', '%ff'].map((name) => ({ key, body, names: everyFolder(operation, name) })),
  ];
}

function everyFolder(operation: Operation, name: string): Filled {
  return Object.fromEntries(foldersOf(operation).map((folder) => [folder, name]));
}

async function ask(operation: Operation, { key, query = '', headers, body = '', names = filled }: Request) {
  const folders = foldersOf(operation);
  const values = Object.fromEntries(operation.parameters.map((name, index) => [name, names[folders[index]!]!]));
  return fetch(`${service.url}${addressOf(operation, values)}${query}`, {
    method: operation.method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === '' ? {} : { body }),
  });
}

describe('every refusal', () => {
  it('is one that the document names for its operation, with its status, code, form and headers', async () => {
    const [odd, seen]: [string[], Set<number>] = [[], new Set()];
    for (const operation of operations) {
      const { responses, 'x-error-codes': codes } = document.paths[operation.path][operation.method.toLowerCase()];
      for (const [index, request] of oddRequests(operation).entries()) {
        const answer = await ask(operation, request);
        const text = await answer.text();
        if (answer.status < 400) continue;
        seen.add(answer.status);
        const name = responses[answer.status]?.$ref?.split('/').at(-1);
        const { headers = {}, content = {} } = document.components.responses[name] ?? {};
        const type = answer.headers.get('content-type') ?? '';
        const absent = Object.keys(headers).filter(
          (header) => !/^RateLimit/.test(header) && !answer.headers.has(header),
        );
        if (content[type] === undefined || !codes.includes(JSON.parse(text).error_code) || absent.length > 0) {
          odd.push(`${operation.name} (${index}): ${answer.status} ${absent.join()} ${text}`);
        }
      }
    }
    expect(odd).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining([400, 401, 403, 404, 409, 413, 415, 422]));
  });
});
