import { crossSiteSign, type RequestOrigin } from './cross-site';

const HOST = 'console.example.com';

function isRefused(request: Partial<RequestOrigin>): boolean {
  const nothing = { fetchSite: undefined, origin: undefined, marker: undefined };
  return crossSiteSign({ ...nothing, method: 'POST', host: HOST, ...request }) !== undefined;
}

describe('without Sec-Fetch-Site', () => {
  it.each([
    ['https://console.example.com', HOST],
    ['http://console.example.com', HOST],
    ['https://console.example.com', `${HOST}:443`],
    ['https://CONSOLE.example.com', HOST],
    ['http://localhost:3000', 'localhost:3000'],
    ['http://[::1]:3000', '[::1]:3000'],
  ])('the origin %s is that of the host %s', (origin, host) => {
    expect(isRefused({ origin, host, marker: '1' })).toBe(false);
    expect(isRefused({ origin, host, method: 'GET' })).toBe(false);
  });

  it.each([
    ['https://console.example.com.evil.example', HOST],
    ['https://evil-console.example.com', HOST],
    ['https://example.com', HOST],
    ['https://console.example.com:8443', HOST],
    ['https://console.example.com', `${HOST}:8443`],
    ['http://console.example.com', `${HOST}:443`],
    ['https://console.example.com@evil.example', HOST],
    ['chrome-extension://console.example.com', HOST],
    ['null', HOST],
    ['', HOST],
    ['https://console.example.com', undefined],
    ['https://console.example.com', ''],
  ])('the origin %s is not that of the host %s', (origin, host) => {
    expect(isRefused({ origin, host, marker: '1' })).toBe(true);
    expect(isRefused({ origin, host, method: 'GET' })).toBe(true);
  });

  it('a request that says nothing may read, and change nothing', () => {
    for (const method of ['GET', 'HEAD']) expect(isRefused({ method })).toBe(false);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      expect([method, isRefused({ method, marker: '1' })]).toEqual([method, true]);
    }
  });
});

describe('with Sec-Fetch-Site', () => {
  it.each(['same-origin', 'same-site', 'cross-site', 'none', '', 'SAME-ORIGIN', 'same-origin, none'])(
    '%s decides, whatever the origin is',
    (fetchSite) => {
      for (const origin of [undefined, 'https://console.example.com', 'https://evil.example', 'null']) {
        const request = { fetchSite, origin };
        expect(isRefused({ ...request, marker: '1' })).toBe(fetchSite !== 'same-origin');
        expect(isRefused({ ...request, method: 'GET' })).toBe(!['same-origin', 'none'].includes(fetchSite));
      }
    },
  );

  it('a change needs the header of the console, too', () => {
    for (const marker of [undefined, '', '0', 'true', 'background', '1, 1']) {
      expect([marker, isRefused({ fetchSite: 'same-origin', marker })]).toEqual([marker, true]);
    }
  });
});
