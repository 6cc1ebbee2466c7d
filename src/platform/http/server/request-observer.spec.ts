import { routeName } from './request-observer';

describe('the name of a route', () => {
  it.each([
    ['/v1/events/:eventId', '/v1/events/{eventId}'],
    ['/v1/external-events\\:batch', '/v1/external-events:batch'],
    ['/v1/campaigns/:campaign_id/variables\\:define', '/v1/campaigns/{campaign_id}/variables:define'],
    ['/v1/api-keys/:id\\:rotate', '/v1/api-keys/{id}:rotate'],
    ['/metrics', '/metrics'],
  ])('%s is %s, the first time and every other', (path, name) => {
    expect([routeName(path), routeName(path)]).toEqual([name, name]);
  });
});
