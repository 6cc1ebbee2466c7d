import { describeFaults } from '../../platform/errors/describe-faults';
import { parseMutationRequest } from './mutation-request';

const OPS = [{ path: 'state.user.points', op: 'inc', value: 1 }];

function faultsOf(body: unknown, key?: string): string[] {
  const parsed = parseMutationRequest(body, key);
  return 'faults' in parsed ? parsed.faults.map(({ path, code }) => `${path} ${code}`) : [];
}

describe('the body of a mutation', () => {
  it('may be spelt both ways, and twice when both say the same', () => {
    const snake = { ops: OPS, mutation_id: 'm', campaign_id: 'c', app_id: 'a', user_id: 'u' };
    const camel = { ops: OPS, mutationId: 'm', campaignId: 'c', appId: 'a', userId: 'u' };
    for (const body of [snake, camel, { ...snake, ...camel }]) {
      const parsed = parseMutationRequest(body, undefined);
      if ('faults' in parsed) throw new Error(describeFaults(parsed.faults));
      const { mutationId, named } = parsed.request;
      expect(mutationId).toBe('m');
      expect([named.campaigns, named.apps, named.users].map((list) => list.map(({ value }) => value))).toEqual([
        ['c'],
        ['a'],
        ['u'],
      ]);
    }
  });

  it('takes the header for the mutation id', () => {
    expect(parseMutationRequest({ ops: OPS }, 'from the header')).toMatchObject({
      request: { mutationId: 'from the header' },
    });
    expect(faultsOf({ ops: OPS, mutation_id: 'same' }, 'same')).toEqual([]);
    expect(faultsOf({ ops: OPS, mutationId: 'a' }, 'b')).toEqual(['Idempotency-Key conflicting_fields']);
    expect(faultsOf({ ops: OPS }, '')).toEqual(['Idempotency-Key empty']);
  });

  it('takes the header as a string of RFC 9651, and without its quotes', () => {
    const written = {
      'a"b': 'a"b',
      '"abc"': 'abc',
      '"a \\"b\\" \\\\"': 'a "b" \\',
      '"abc"; v=1': 'abc',
      "'abc'": "'abc'",
    };
    for (const [header, mutationId] of Object.entries(written)) {
      expect(parseMutationRequest({ ops: OPS, mutation_id: mutationId }, header)).toMatchObject({
        request: { mutationId },
      });
    }
    for (const header of ['"abc', '"', '"a\\c"', '"a" b', '"a", "b"', '"ä"']) {
      expect(faultsOf({ ops: OPS }, header)).toEqual(['Idempotency-Key format']);
    }
    expect(faultsOf({ ops: OPS }, '""')).toEqual(['Idempotency-Key empty']);
    expect(faultsOf({ ops: OPS }, `"${'x'.repeat(256)}"`)).toEqual(['Idempotency-Key too_long']);
    expect(faultsOf({ ops: OPS, mutation_id: '"abc"' }, '"abc"')).toEqual(['Idempotency-Key conflicting_fields']);
  });

  it('takes the header in UTF-8 and in Latin-1 for the same text as the body', () => {
    for (const mutationId of ['häufig', 'été', '注文-7']) {
      const utf8 = Buffer.from(mutationId).toString('latin1');
      const sent = mutationId.startsWith('注') ? [utf8] : [utf8, mutationId];
      for (const header of sent) {
        expect(parseMutationRequest({ ops: OPS, mutation_id: mutationId }, header)).toMatchObject({
          request: { mutationId },
        });
      }
    }
  });

  it('may say null for what it does not name', () => {
    const body = { ops: OPS, mutation_id: null, campaign_id: null, appId: null };
    expect(parseMutationRequest(body, undefined)).toMatchObject({
      request: { mutationId: undefined, named: { campaigns: [], apps: [], users: [] } },
    });
  });

  it.each<[string, unknown, string[]]>([
    ['no object', [], [' type']],
    ['null', null, [' type']],
    ['no operations', {}, ['ops required']],
    ['two spellings that differ', { ops: OPS, mutation_id: 'a', mutationId: 'b' }, ['mutationId conflicting_fields']],
    ['an empty id', { ops: OPS, mutation_id: '' }, ['mutation_id empty']],
    ['an id of 256 characters', { ops: OPS, mutation_id: '😀'.repeat(256) }, ['mutation_id too_long']],
    ['an id with U+0000', { ops: OPS, mutation_id: 'a\0' }, ['mutation_id invalid_characters']],
    ['an id that is a number', { ops: OPS, mutation_id: 1 }, ['mutation_id type']],
    ['a campaign that is no name', { ops: OPS, campaignId: 'a/b' }, ['campaignId format']],
    ['an app that is no name', { ops: OPS, app_id: '' }, ['app_id format']],
    ['a user of 257 characters', { ops: OPS, user_id: 'x'.repeat(257) }, ['user_id too_long']],
    ['an unknown field', { ops: OPS, mutationid: 'm' }, ['mutationid unknown_field']],
    [
      'a field named __proto__',
      JSON.parse('{"ops":[],"__proto__":{}}'),
      ['ops too_few_items', '__proto__ unknown_field'],
    ],
    [
      'all of it',
      { mutation_id: '', app_id: 1, x: 1 },
      ['ops required', 'mutation_id empty', 'app_id type', 'x unknown_field'],
    ],
  ])('is refused with every fault named: %s', (_name, body, faults) => {
    expect(faultsOf(body)).toEqual(faults);
  });

  it('is refused with the field that was meant by an unknown one', () => {
    const parsed = parseMutationRequest({ ops: OPS, mutationid: 'm' }, undefined);
    expect('faults' in parsed && parsed.faults[0]?.message).toMatch(/ Did you mean mutation_id\?$/);
  });

  it('may have an id of 255 characters, counted as people count', () => {
    expect(faultsOf({ ops: OPS, mutation_id: '😀'.repeat(255) })).toEqual([]);
  });
});
