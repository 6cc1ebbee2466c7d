import fc from 'fast-check';
import { parseReactionDefinition } from './reaction-definition';

const BODY = { name: 'r', eventType: 'purchase', ops: [{ path: 'state.user.points', op: 'inc', value: 1 }] };
const faultsOf = (body: unknown): string[] => {
  const parsed = parseReactionDefinition(body);
  return 'faults' in parsed ? parsed.faults.map(({ path, code }) => `${path} ${code}`) : [];
};

describe('the definition of a reaction', () => {
  it('is switched on, for any source and event, unless it says otherwise; null says nothing', () => {
    const definition = { ...BODY, source: undefined, when: undefined, enabled: true };
    expect(parseReactionDefinition(BODY)).toEqual({ definition });
    expect(parseReactionDefinition({ ...BODY, source: null, when: null, enabled: null })).toEqual({ definition });
  });

  it('may be for a type with spaces, as those of the external family are', () => {
    expect(faultsOf({ ...BODY, eventType: 'Order Completed', source: 'shop eu' })).toEqual([]);
  });

  it.each<[object, string]>([
    [{ name: undefined }, 'name required'],
    [{ name: 7 }, 'name type'],
    [{ name: '.r' }, 'name format'],
    [{ eventType: null }, 'eventType required'],
    [{ eventType: '  ' }, 'eventType empty'],
    [{ eventType: 'x'.repeat(129) }, 'eventType too_long'],
    [{ eventType: 'x\u0000' }, 'eventType invalid_characters'],
    [{ source: [] }, 'source type'],
    [{ source: 'x'.repeat(129) }, 'source too_long'],
    [{ when: [] }, 'when type'],
    [{ enabled: 'yes' }, 'enabled type'],
    [{ event_type: 'x' }, 'event_type unknown_field'],
    [{ ops: [] }, 'ops too_few_items'],
  ])('with %j is refused', (fields, fault) => {
    expect(faultsOf({ ...BODY, ...fields })).toEqual([fault]);
  });

  it('is read from any JSON value without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (body, part) => {
        for (const each of [body, { ...BODY, when: part }, { ...BODY, ops: part }]) parseReactionDefinition(each);
      }),
    );
  });
});
