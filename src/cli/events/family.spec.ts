import { familyOf } from './family';

it.each([
  ['{"source":"s","external_event_id":"1","type":"t"}', 'external'],
  ['{"source":"s","type":"t"}', 'external'],
  ['{"source":"s","externalEventId":"1"}', 'cdp'],
  ['{"source":"s","identity":{"type":"EMAIL"}}', undefined],
  ['{"eventType":"t","type":"t"}', undefined],
  ['[1]', undefined],
  ['null', undefined],
])('%s is of the family %s', (text, family) => {
  expect(familyOf(text)).toBe(family);
});
