import { signedTarget } from './request-target';

describe('a request target', () => {
  it.each([
    ['/v1/external-events', '/v1/external-events', '?'],
    ['/v1/external-events?', '/v1/external-events', '?'],
    ['/v1/external-events?dry_run=true', '/v1/external-events', '?dry_run=true'],
    ['/v1/external-events?a=?b&c=%20', '/v1/external-events', '?a=?b&c=%20'],
    ['/v1/external-events%3Abatch', '/v1/external-events%3Abatch', '?'],
    ['/v1/external-events%3abatch?x=%3A', '/v1/external-events%3abatch', '?x=%3A'],
    ['//v1//external-events', '//v1//external-events', '?'],
    ['http://example.com/v1/external-events?a=b', '/v1/external-events', '?a=b'],
    ['HTTPS://user@example.com:8443?a=b', '/', '?a=b'],
    ['http://example.com', '/', '?'],
    ['/v1/?http://example.com/other', '/v1/', '?http://example.com/other'],
    ['/http://example.com/other', '/http://example.com/other', '?'],
  ])('%s is signed as it was sent', (target, path, query) => {
    expect(signedTarget(target)).toEqual({ path, query });
  });
});
