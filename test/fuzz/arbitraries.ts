import fc, { type Arbitrary } from 'fast-check';
import { changedAt, placesIn, textOf, treeOf, type Tree } from './json-tree';

type Schema = any;

const UNICODE = [
  '\u202eabc',
  'e\u0301',
  '👩‍👩‍👧',
  'ß',
  'ﬁ',
  'İ',
  '\ufeff',
  '\u2028',
  '𝒳',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
];
const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '', ' ', '$ref', '0'];
const TIMES = [
  '2026-01-02T03:04:05Z',
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '2026-01-02',
  '9999-12-31T23:59:60Z',
];
/** JSON texts of values that are easily taken for others. */
const ODD_TEXTS = [
  ...['null', 'true', '[]', '{}', '""', '-0', '0.1', '1e400', '-1e400', '1e-400', '9007199254740993', '1e21'],
  ...['-9007199254740993', '123456789012345678901234567890', '0.30000000000000004', '1E5', '"1"', '"null"', '[null]'],
  ...['NaN', 'Infinity', '01', '1.', '.5', '+1', "'x'", 'undefined', '"\\ud800"', '"\\u0000"', '"\\x41"', '{"a":1,}'],
  ...['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"x":1}}}', '[[[[[[]]]]]]', '"<script>"'],
  ...['"\' OR 1=1 --"', '"%00"', '"../../etc/passwd"', '"${7*7}"', '{"$ref":"#"}', '{"toString":1,"valueOf":null}'],
];
const DEEP = [12, 200, 20_000];

function resolved(document: any, { $ref }: { readonly $ref: string }): Schema {
  return $ref
    .split('/')
    .slice(1)
    .reduce((value: any, name) => value[name], document);
}

const hostileTree: Arbitrary<Tree> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...ODD_TEXTS).map((text): Tree => ({ kind: 'text', text })) },
  { weight: 3, arbitrary: fc.constantFrom(...UNICODE, ...NAMES, ...TIMES).map(treeOf) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }).map(treeOf) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }).map(treeOf) },
  { weight: 1, arbitrary: fc.double().map((value) => treeOf(Number.isFinite(value) ? value : 0)) },
  { weight: 1, arbitrary: fc.constantFrom(129, 257, 4_097, 70_000).map((length) => treeOf('x'.repeat(length))) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...DEEP).map((levels): Tree => ({
      kind: 'text',
      text: `${'['.repeat(levels)}${']'.repeat(levels)}`,
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(301, 1_001).map((count): Tree => ({
      kind: 'object',
      entries: Array.from({ length: count }, (_unused, index) => [`k${index}`, treeOf(index)] as const),
    })),
  },
);

/** Values that a schema of the document allows; `known` are good ones for fields and parameters of these names. */
export function valid(document: any, schema: Schema, known: Known, name = ''): Arbitrary<unknown> {
  if (schema?.$ref !== undefined) return valid(document, resolved(document, schema), known, name);
  const good = known[name];
  const plain = plainValue(document, schema, known);
  return good === undefined || good.length === 0
    ? plain
    : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: plain });
}

/** Values that exist, by the names of the fields and parameters that take them. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

function plainValue(document: any, schema: Schema, known: Known): Arbitrary<unknown> {
  if (schema === undefined) return fc.jsonValue({ maxDepth: 2 });
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const alternatives: Schema[] | undefined = schema.oneOf ?? schema.anyOf;
  if (alternatives !== undefined) return fc.oneof(...alternatives.map((each) => valid(document, each, known)));
  switch (schema.type) {
    case 'object':
      return validObject(document, schema, known);
    case 'array': {
      const { minItems = 0, maxItems = 5 }: { minItems?: number; maxItems?: number } = schema;
      const bounds = { minLength: Math.min(minItems, 5), maxLength: Math.min(maxItems, minItems + 4) };
      return fc.array(valid(document, schema.items, known), bounds);
    }
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? Number(schema.minimum ?? 0) + 1000 });
    case 'number':
      return fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return validText(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function validText({ format, minLength = 0, maxLength = 40, example }: Schema): Arbitrary<string> {
  const examples = typeof example === 'string' ? [example] : [];
  if (format === 'date-time') return fc.constantFrom(...TIMES.slice(0, 1), '2026-03-04T05:06:07.089+02:00');
  if (format === 'uuid') return fc.uuid();
  const made = fc.string({
    unit: 'grapheme-ascii',
    minLength,
    maxLength: Math.max(minLength, Math.min(maxLength, 40)),
  });
  const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,12}$/);
  return examples.length === 0 ? fc.oneof(made, word) : fc.oneof(fc.constantFrom(...examples), made, word);
}

function validObject(document: any, schema: Schema, known: Known): Arbitrary<unknown> {
  const properties: Record<string, Schema> = schema.properties ?? {};
  const names = Object.keys(properties);
  if (names.length === 0) {
    const value = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    const inner = value === undefined ? fc.jsonValue({ maxDepth: 2 }) : valid(document, value, known);
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), inner, { maxKeys: 4 });
  }
  const fields = Object.fromEntries(names.map((name) => [name, valid(document, properties[name], known, name)]));
  const requiredKeys = (schema.required ?? []).filter((name: string) => names.includes(name));
  return fc.record(fields, { requiredKeys });
}

/** Bodies near those that a schema allows: some of them right, most of them wrong at one or two places. */
export function bodies(document: any, schema: Schema, known: Known): Arbitrary<string> {
  const right = valid(document, schema, known).map(treeOf);
  const once = right.chain(spoilt);
  return fc.oneof(
    { weight: 10, arbitrary: right.map(textOf) },
    { weight: 12, arbitrary: once.map(textOf) },
    { weight: 4, arbitrary: once.chain(spoilt).map(textOf) },
    { weight: 2, arbitrary: hostileTree.map(textOf) },
    { weight: 2, arbitrary: right.map(textOf).chain(brokenText) },
  );
}

function spoilt(tree: Tree): Arbitrary<Tree> {
  const place = fc.nat({ max: placesIn(tree) - 1 });
  const name = fc.oneof(fc.constantFrom(...NAMES, ...UNICODE), fc.string({ maxLength: 20 }));
  const at = (where: number, change: (value: Tree) => Tree | undefined): Tree =>
    changedAt(tree, where, change) ?? { kind: 'text', text: '' };
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(place, hostileTree).map(([where, value]) => at(where, () => value)) },
    { weight: 2, arbitrary: place.map((where) => at(where, () => undefined)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(place, name, hostileTree)
        .map(([where, key, value]) => at(where, (old) => withEntry(old, key, value))),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(place, hostileTree).map(([where, value]) => at(where, (old) => twice(old, value))),
    },
  );
}

function withEntry(tree: Tree, key: string, value: Tree): Tree {
  return tree.kind === 'object' ? { kind: 'object', entries: [...tree.entries, [key, value]] } : tree;
}

function twice(tree: Tree, value: Tree): Tree {
  if (tree.kind === 'array') return { kind: 'array', items: [...tree.items, ...tree.items] };
  const [first] = tree.kind === 'object' ? tree.entries : [];
  return first === undefined ? tree : withEntry(tree, first[0], value);
}

function brokenText(text: string): Arbitrary<string> {
  return fc.oneof(
    fc.nat({ max: text.length }).map((end) => text.slice(0, end)),
    fc.tuple(fc.nat({ max: text.length }), fc.string({ unit: 'binary', maxLength: 5 })).map(([index, garbage]) => {
      return text.slice(0, index) + garbage + text.slice(index);
    }),
    fc.constantFrom('', ' ', `\ufeff${text}`, `${text}${text}`, `[${text}]`, `${text},`, JSON.stringify(text)),
  );
}

/** What may stand in a path or a query where a value is wanted. */
export const oddTexts: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...NAMES, ...UNICODE, '..', '.', 'a/b', '%00', 'x'.repeat(300), 'null', '-1', '1e9', ':', 'a:b'),
  fc.string({ unit: 'binary', maxLength: 30 }),
);

/** Percent-encoded like a URL, also what JavaScript cannot encode. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
