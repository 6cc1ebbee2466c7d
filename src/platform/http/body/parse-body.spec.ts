import fc from 'fast-check';
import { UnparsedEntry } from '../../values/json/json-entries';
import { BodyRefusal } from './body-refusal';
import { parseBody, type BodyForm } from './parse-body';

const BATCH: BodyForm = { entriesMax: 1_000, propertiesBytesMax: 65_536 };
/** Behind this much white space every body is a large one. */
const FILLER = ' '.repeat(64 * 1024);

async function parse(json: string | Buffer, entriesOf: string | undefined = 'items'): Promise<unknown> {
  return (await parseBody(Buffer.from(json), BATCH, entriesOf)).value;
}

async function refusalOf(json: string, entriesOf?: string): Promise<BodyRefusal> {
  try {
    await parse(json, entriesOf);
  } catch (error) {
    if (error instanceof BodyRefusal) return error;
    throw error;
  }
  throw new Error('It was not refused');
}

describe('a large batch', () => {
  it('is what JSON.parse makes of it, whatever stands in it and around it', async () => {
    const members = fc.dictionary(fc.oneof(fc.constantFrom('items', 'other'), fc.string()), fc.array(fc.jsonValue()));
    await fc.assert(
      fc.asyncProperty(members, fc.constantFrom(0, 1), async (body, spaces) => {
        const json = `${FILLER}${JSON.stringify(body, null, spaces)}`;
        expect(JSON.stringify(await parse(json))).toBe(JSON.stringify(JSON.parse(json)));
      }),
    );
  });

  it('is refused exactly where JSON.parse refuses it', async () => {
    const isRight = (json: string): boolean => {
      try {
        JSON.parse(json);
        return true;
      } catch {
        return false;
      }
    };
    const signs = fc.constantFrom('{', '}', '[', ']', ',', ':', '"items"', '"', '\\', '1', 'null', ' ', 'x');
    const texts = fc.array(signs, { maxLength: 12 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom('', '{"items":[', '{"items":[1,{"a":'), async (text, head) => {
        for (const end of ['', ']}', '}]}']) {
          const json = `${head}${text}${end}${FILLER}`;
          if (isRight(json)) expect(await parse(json)).toEqual(JSON.parse(json));
          else expect((await refusalOf(json)).code).toBe('malformed_json');
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['{"items":[1],"items":[2,3]}', { items: [2, 3] }],
    ['{"items":[1],"items":"none"}', { items: 'none' }],
    ['\ufeff{"\\u0069tems":[[],{"a":1}]}', { items: [[], { a: 1 }] }],
    ['{"items":[],"about":{"items":[1]}}', { items: [], about: { items: [1] } }],
    ['[{"items":[1]}]', [{ items: [1] }]],
    ['{"__proto__":{"items":[1]},"items":[{"__proto__":1}]}', undefined],
  ])('that is odd is read as usual: %s', async (json, value) => {
    const read = await parse(`${json}${FILLER}`);
    expect(JSON.stringify(read)).toBe(JSON.stringify(value ?? JSON.parse(json.replace('\ufeff', ''))));
  });

  it('comes with the texts of its items', async () => {
    const { entries } = await parseBody(
      Buffer.from(`{"items":[1],"items": [ 1.0 , {"ä":1}]}${FILLER}`),
      BATCH,
      'items',
    );
    expect([entries?.count, entries?.text(0), entries?.text(1), entries?.bytes(1)]).toEqual([2, '1.0', '{"ä":1}', 9]);
  });

  it('has what is over a limit left unparsed, and everything else parsed', async () => {
    const wide = `[${'[],'.repeat(30_000)}1]`;
    const value = (await parse(`{"items":[1,${wide},2]}`)) as { items: unknown[] };
    expect(value.items).toEqual([1, expect.any(UnparsedEntry), 2]);
    const refusal = await refusalOf(`{"about":${wide},"items":[1,2]}`);
    expect([refusal.code, refusal.details.map(({ code }) => code)]).toEqual(['validation_failed', ['too_large']]);
  });

  it('of too many items is refused before they are parsed', async () => {
    const refusal = await refusalOf(`{"items":[${'x,'.repeat(1_000)}x]}${FILLER}`);
    expect([refusal.code, refusal.details]).toEqual([
      'batch_too_large',
      [{ path: 'items', code: 'too_many_items', message: 'items has more than 1000 entries.' }],
    ]);
  });
});

describe('nesting', () => {
  const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;

  it.each(['', FILLER])('is taken up to 64 levels, in bodies of any size', async (filler) => {
    for (const list of ['items', 'other']) {
      expect(await parse(`${nested(64)}${filler}`, list)).toEqual(JSON.parse(nested(64)));
      expect(await parse(`{"items":["${'['.repeat(100)}\\"",${nested(62)}]}${filler}`, list)).toBeDefined();
      for (const json of [nested(66), `{"items":[1,${nested(64)}]}`, '['.repeat(65), '{"a":'.repeat(100_000)]) {
        const refusal = await refusalOf(`${json}${filler}`, list);
        expect([refusal.code, refusal.details.map(({ code }) => code)]).toEqual(['malformed_json', ['too_deep']]);
      }
    }
  });
});
