import { startApp, type TestApp } from '../support/app';
import { aWorkspace, expectProblem, type Answer, type Client } from '../support/client';
import { startDnsStub, type DnsStub } from '../support/dns-stub';
import { answerJson, startHttpStub, type HttpStub } from '../support/http-stub';
import { PROBE, ProbeController } from '../support/probe';
import { aSigningKey, aTokenIssuer, type TokenIssuer } from '../support/tokens';
import { until } from '../support/until';

/** More than a process has threads for look-ups of the system, and slots for one workspace. */
const DEAD_ISSUERS = 12;
const KEY = aSigningKey();

let dns: DnsStub;
let keys: HttpStub;
let service: TestApp;
let crowded: Client;
let other: Client;

beforeAll(async () => {
  dns = await startDnsStub({ 'keys.example.com': ['127.0.0.1'] });
  keys = await startHttpStub(answerJson({ keys: [KEY.jwk] }));
  service = await startApp({ JWKS_ALLOW_PRIVATE: 'true', JWKS_DNS_SERVERS: dns.server }, undefined, [ProbeController]);
  crowded = (await aWorkspace(service)).admin;
  other = (await aWorkspace(service)).admin;
});

afterAll(async () => {
  await service.stop();
  await Promise.all([dns.stop(), keys.stop()]);
});

const anIssuer = (client: Client, host: string): Promise<TokenIssuer> =>
  aTokenIssuer(client, { key: KEY, fields: { jwks: null, jwksUri: `http://${host}:${keys.port}/keys` } });
const read = (issuer: TokenIssuer): Promise<Answer> => issuer.participant().get(PROBE);

describe('issuers whose names no DNS server speaks of', () => {
  it('hold up their own workspace at most: others are served meanwhile', async () => {
    const dead = await Promise.all(
      Array.from({ length: DEAD_ISSUERS }, (_, at) => anIssuer(crowded, `dead${at}.example.com`)),
    );
    const good = await anIssuer(other, 'keys.example.com');
    let answered = 0;
    const waiting = dead.map(async (issuer) => {
      const answer = await read(issuer);
      answered += 1;
      return answer;
    });
    const begun = (): number => new Set(dns.asked.filter((name) => name.startsWith('dead'))).size;
    // Two at a time, and the others wait.
    await until(() => begun() === 2);

    expect((await read(good)).status).toBe(200);
    expect(answered).toBeLessThan(DEAD_ISSUERS);
    expect(begun()).toBeLessThan(DEAD_ISSUERS);

    for (const answer of await Promise.all(waiting)) {
      expectProblem(answer, 503, 'unavailable', []);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await read(good)).status).toBe(200);
  });
});
