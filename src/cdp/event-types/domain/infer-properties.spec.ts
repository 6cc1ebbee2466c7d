import { maskProperties } from '../../../platform/privacy/mask';
import { PropertyInference } from './infer-properties';

type Properties = Readonly<Record<string, unknown>>;

function inferred(events: readonly Properties[], piiNames: readonly string[] = []) {
  const inference = new PropertyInference();
  for (const event of events) inference.add(event, maskProperties(event, new Set(piiNames)) as Properties);
  return { ...inference.result() };
}

describe('the draft of properties', () => {
  it.each([
    ['numbers of both kinds', [1, 1.5, 2], { type: 'number' }],
    ['whole numbers', [1, 2], { type: 'integer' }],
    ['times and other texts', ['2026-01-01T00:00:00Z', 'later'], { type: 'string' }],
    ['times', ['2026-01-01T00:00:00Z', '2026-01-01T00:00+02:00'], { type: 'timestamp' }],
    ['the most frequent of several', [true, 'yes', true], { type: 'boolean' }],
    ['lists', [[1]], { type: 'array' }],
    ['objects', [{ a: 1 }], { type: 'object' }],
    ['dates', ['2026-01-01'], { type: 'string', format: 'date' }],
    ['addresses', ['https://shop.example/a', 'https://shop.example/b'], { type: 'string', format: 'uri' }],
    ['one that is no address', ['https://shop.example/a', 'b'], { type: 'string' }],
    ['addresses with other letters', ['https://shop.example/größe'], { type: 'string' }],
    ['a day that no month has', ['2026-02-30'], { type: 'string' }],
    ['a time that no day has', ['2026-01-01T25:00:00Z'], { type: 'string' }],
    ['uuids', ['01890000-0000-7000-8000-000000000000'], { type: 'string', format: 'uuid' }],
    ['email addresses', ['jane@example.com'], { type: 'string', format: 'email', pii: true }],
  ])('gives %s their type and format', (_what, values, definition) => {
    expect(inferred(values.map((it) => ({ it })))).toEqual({ it: { ...definition, required: true } });
  });

  it('requires what every event has, and not what is null or absent', () => {
    expect(
      inferred([
        { a: 1, b: 1, c: 1 },
        { a: 2, b: null },
      ]),
    ).toEqual({
      a: { type: 'integer', required: true },
      b: { type: 'integer' },
      c: { type: 'integer' },
    });
  });

  it('tells no format of what views hide whole, but its type', () => {
    const events = [{ born: '2000-01-01', age: 26, home: { street: 'x' } }];
    expect(inferred(events, ['born', 'age', 'home'])).toEqual({
      born: { type: 'string', pii: true, required: true },
      age: { type: 'integer', pii: true, required: true },
      home: { type: 'object', pii: true, required: true },
    });
  });

  it('leaves out names that views hide, and takes __proto__ as a name', () => {
    const event = JSON.parse('{"jane@example.com": 1, "__proto__": 2}') as Properties;
    const inference = new PropertyInference();
    inference.add(event, maskProperties(event, new Set()) as Properties);
    expect(Object.entries(inference.result())).toEqual([['__proto__', { type: 'integer', required: true }]]);
  });

  it('has no more properties, and no longer names, than a definition may have', () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`p${n}`, n]));
    expect(Object.keys(inferred([{ ['x'.repeat(129)]: 1, ...many }]))).toHaveLength(300);
    expect(inferred([{ ['x'.repeat(129)]: 1 }])).toEqual({});
  });
});
