import { withLiteralColons } from './custom-method';

describe('withLiteralColons', () => {
  it.each([
    ['/v1/external-events%3Abatch', '/v1/external-events:batch'],
    ['/v1/external-events%3abatch', '/v1/external-events:batch'],
    ['/v1/a%3Ab%3ac', '/v1/a:b:c'],
    ['/v1/external-events%3Abatch?source=a%3Ab', '/v1/external-events:batch?source=a%3Ab'],
  ])('reads the encoded colons in the path of %s', (target, expected) => {
    expect(withLiteralColons(target)).toBe(expected);
  });

  it.each(['/v1/external-events', '/v1/external-events?at=10%3A30', '/v1/a%253Ab', '/v1/a%3', '/v1/a%3Bb', '', '?%3A'])(
    'leaves %s as it is',
    (target) => {
      expect(withLiteralColons(target)).toBe(target);
    },
  );
});
