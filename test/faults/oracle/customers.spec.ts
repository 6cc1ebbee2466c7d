import { customerViolations, type CustomerRows } from './customers';

const T = { tenantId: 't' };
const profile = (profileId: string, rootId = profileId, isErased = false) => ({ ...T, profileId, rootId, isErased });
const external = (profileId: string) => ({ ...T, kind: 'EXTERNAL', profileId });
const rows = (fields: Partial<CustomerRows>): CustomerRows => ({
  profiles: [],
  identifiers: [],
  events: [],
  subjects: [],
  ...fields,
});
const event = (profileId: string, identity = {}, properties = {}) => ({
  ...T,
  eventId: 'e',
  profileId,
  identity,
  properties,
});

it('sound customers have no violations', () => {
  const sound = rows({
    profiles: [profile('a'), profile('b', 'a'), profile('gone', 'gone', true), { ...profile('a'), tenantId: 'u' }],
    identifiers: [external('a'), { ...T, kind: 'EMAIL', profileId: 'b' }, { ...external('a'), tenantId: 'u' }],
    events: [event('a', { email: 'x' }, { amount: 1 }), event('gone')],
    subjects: [{ ...T, subject: 'alive' }],
  });
  expect(customerViolations(sound, [{ ...T, subject: 'dead' }])).toEqual([]);
});

it.each<[string, Partial<CustomerRows>]>([
  ['a chain of pointers: c', { profiles: [profile('a'), profile('b', 'a'), profile('c', 'b')] }],
  ['a pointer into nothing: a', { profiles: [profile('a', 'x')] }],
  ['a pointer into nothing: a', { profiles: [profile('a', 'b'), { ...profile('b'), tenantId: 'u' }] }],
  [
    'a customer with several EXTERNAL identifiers: t a',
    { profiles: [profile('a'), profile('b', 'a')], identifiers: [external('a'), external('b')] },
  ],
  [
    'an identifier of an erased profile: a',
    { profiles: [profile('a', 'a', true)], identifiers: [{ ...T, kind: 'EMAIL', profileId: 'a' }] },
  ],
  [
    'an event that tells of an erased person: e',
    { profiles: [profile('a', 'a', true)], events: [event('a', { x: 1 })] },
  ],
  [
    'an event that tells of an erased person: e',
    { profiles: [profile('a', 'a', true)], events: [event('a', {}, { amount: 1 })] },
  ],
  ['values of an erased person: dead', { subjects: [{ ...T, subject: 'dead' }] }],
])('is seen: %s', (words, broken) => {
  expect(customerViolations(rows(broken), [{ ...T, subject: 'dead' }])).toContain(words);
});
