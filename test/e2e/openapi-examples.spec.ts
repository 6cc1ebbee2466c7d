import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { sharedApp, type SharedApp } from '../support/app';
import { Client } from '../support/client';
import { addressOf, operationsOf, type Operation } from '../support/operations';
import { fill, foldersOf, twins, type Filled, type Twin } from '../support/twins';

let service: SharedApp;
let document: any;
let operations: readonly Operation[];

beforeAll(async () => {
  service = await sharedApp({ processesEvents: true });
  document = (await new Client(service.url, undefined).get('/docs-json')).body;
  operations = await operationsOf(service.url);
});

interface Example {
  readonly operation: Operation;
  readonly name: string;
  readonly schema: any;
  readonly value: unknown;
}

function contentOf({ method, path }: Operation): any {
  return document.paths[path][method.toLowerCase()].requestBody?.content['application/json'];
}

/** What is shown of each body, those first that others build upon. */
function examples(): Example[] {
  const shown = operations.flatMap((operation) => {
    const content = contentOf(operation);
    if (content === undefined) return [];
    const all = content.examples ?? { example: { value: content.example } };
    return Object.entries<any>(all).map(([name, { value }]) => ({
      operation,
      schema: content.schema,
      value,
      name: `${operation.name} (${name})`,
    }));
  });
  const defines = ({ name }: Example): boolean => /variables:define|POST \/v1\/cdp\/event-types /.test(name);
  const undoes = ({ name }: Example): boolean => /:(?:archive|erase|revoke|undo|lift)/.test(name);
  const rank = (example: Example): number => (defines(example) ? 0 : undoes(example) ? 2 : 1);
  return shown.sort((one, other) => rank(one) - rank(other));
}

describe('the example of a body', () => {
  it('is right by its own schema', () => {
    // As JSON Schema, since the service checks some bodies by more than that.
    const ajv = addFormats(new Ajv({ strict: false, allErrors: true }));
    const faults = examples().map(({ name, schema, value }) => {
      const validate = ajv.compile({ ...schema, components: document.components });
      return validate(value) ? [] : [name, ajv.errorsText(validate.errors)];
    });
    expect(faults.length).toBeGreaterThan(20);
    expect(faults.flat()).toEqual([]);
  });

  it('is taken by the running service', async () => {
    const [twin] = await twins(service);
    const filled = await fill(twin);
    const answers: string[] = [];
    for (const example of examples()) {
      const { status, text } = await send(twin, filled, example);
      if (status >= 500 || [400, 413, 415, 422].includes(status)) answers.push(`${example.name}: ${status} ${text}`);
    }
    expect(answers).toEqual([]);
  });

  it.each<[string, Change]>([
    ['that it leaves out', (value) => value],
    ['that there is, as without them', requiredOf],
  ])('is answered alike with null in each optional field %s', async (_which, change) => {
    const withNulls: Change = (value, schema) => nullsIn(change(value, schema), schema);
    const [plain, nulls] = await Promise.all([answersOf(change), answersOf(withNulls)]);
    expect(plain.size).toBeGreaterThan(20);
    expect(Object.fromEntries(nulls)).toEqual(Object.fromEntries(plain));
  });
});

type Change = (value: unknown, schema: any) => unknown;

/** What a workspace of its own answers to all examples, each as `change` makes it: statuses, and the form of the bodies. */
async function answersOf(change: Change): Promise<Map<string, unknown>> {
  const [twin] = await twins(service);
  const filled = await fill(twin);
  const answers = new Map<string, unknown>();
  for (const example of examples()) {
    const { status, text } = await send(twin, filled, { ...example, value: change(example.value, example.schema) });
    answers.set(example.name, [status, text.includes('\n') ? 'lines' : formOf(JSON.parse(text))]);
  }
  return answers;
}

/** The value with an explicit null in each optional field that its schema declares and it does not have, at any depth. */
function nullsIn(value: unknown, schema: any): unknown {
  return changed(value, schema, nullsIn, (fields, optional) => ({
    ...Object.fromEntries(optional.map((name) => [name, null])),
    ...fields,
  }));
}

/** The value without any optional field that its schema declares, at any depth. */
function requiredOf(value: unknown, schema: any): unknown {
  return changed(value, schema, requiredOf, (fields, optional) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !optional.includes(name))),
  );
}

/** `inner` changes what stands in it, and then `ofObject` its fields, by the names of those that its schema declares optional. */
function changed(
  value: unknown,
  schema: any,
  inner: Change,
  ofObject: (fields: object, optional: readonly string[]) => object,
): unknown {
  const { $ref, allOf: [only] = [], properties = {}, required = [], additionalProperties: each } = schema;
  if ($ref !== undefined) return inner(value, document.components.schemas[$ref.split('/').at(-1)]);
  if (only !== undefined) return inner(value, only);
  if (Array.isArray(value)) return value.map((entry) => inner(entry, schema.items ?? {}));
  if (typeof value !== 'object' || value === null) return value;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const fields = Object.entries(value).map(([name, field]) => [name, inner(field, properties[name] ?? each ?? {})]);
  return ofObject(Object.fromEntries(fields), optional);
}

/** Which fields there are, of which types; null is one of them. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, formOf(inner)]));
}

/** Not every answer is JSON. */
async function send(twin: Twin, filled: Filled, { operation, value }: Example) {
  const { key } = operation.callers === 'participant' ? twin.participant(twin.mark) : twin.admin;
  const folders = foldersOf(operation);
  const names = Object.fromEntries(operation.parameters.map((name, index) => [name, filled[folders[index]!]!]));
  const response = await fetch(`${service.url}${addressOf(operation, names)}`, {
    method: operation.method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(value),
  });
  return { status: response.status, text: await response.text() };
}
