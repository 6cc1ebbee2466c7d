import { KeySets } from '../../src/jwt-issuers/jwks/key-sets';
import { answerJson, startHttpStub, type HttpStub } from '../support/http-stub';
import { TestClock } from '../support/test-clock';
import { aSigningKey } from '../support/tokens';

const KEY = aSigningKey();
/** More than all that is kept of any workspace. */
const ISSUERS = 1_001;
const AT_A_TIME = 20;

let source: HttpStub;

beforeAll(async () => {
  source = await startHttpStub(answerJson({ keys: [KEY.jwk] }));
});

afterAll(() => source.stop());

it('keys of one workspace are not pushed out of memory by those of another', async () => {
  const keySets = new KeySets(new TestClock(), { jwksAllowPrivate: 'true', jwksDnsServers: [] });
  const jwksUri = `http://127.0.0.1:${source.port}/`;
  const keysOf = (tenantId: string, id: string) => keySets.keysFor({ tenantId, id, jwksUri }, { alg: 'ES256' });
  expect(await keysOf('quiet', 'issuer')).toHaveLength(1);
  for (let at = 0; at < ISSUERS; at += AT_A_TIME) {
    await Promise.all(Array.from({ length: AT_A_TIME }, (_, next) => keysOf('crowded', `issuer ${at + next}`)));
  }
  const before = source.requests.length;
  expect(before).toBeGreaterThan(ISSUERS);
  expect(await keysOf('quiet', 'issuer')).toHaveLength(1);
  expect(source.requests).toHaveLength(before);
});
