import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchJwks } from '../../src/jwt-issuers/jwks/fetch-jwks';
import { hostResolver, type ResolveHost } from '../../src/platform/net/resolve-host';
import { startDnsStub, type DnsStub } from '../support/dns-stub';
import { answerJson, startHttpStub } from '../support/http-stub';
import { until } from '../support/until';

const NAMES = {
  'both.example.com': ['192.0.2.1', '2001:db8::1', '192.0.2.2'],
  'four.example.com': ['192.0.2.4'],
  'six.example.com': ['2001:db8::6'],
  'none.example.com': [],
  'inside.example.com': ['127.0.0.1'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'mixed.example.com': ['8.8.8.8', '10.0.0.1'],
  'many.example.com': Array.from({ length: 25 }, (_, at) => `192.0.2.${at}`),
};
const NEVER = new AbortController().signal;

let dns: DnsStub;
let folder: string;
let resolve: ResolveHost;

beforeAll(async () => {
  dns = await startDnsStub(NAMES);
  folder = await mkdtemp(join(tmpdir(), 'hosts-'));
  const hosts = join(folder, 'hosts');
  await writeFile(hosts, '# a note\n127.0.0.1 localhost\n10.1.2.3\twritten.example.com Alias # behind\nnonsense\n');
  resolve = hostResolver([dns.server], hosts);
});

afterAll(async () => {
  await dns.stop();
  await rm(folder, { recursive: true });
});

const addressesOf = async (host: string): Promise<string[]> =>
  (await resolve(host, NEVER)).map(({ address, family }) => `${family} ${address}`);

describe('a host', () => {
  it.each([
    ['both.example.com', ['4 192.0.2.1', '4 192.0.2.2', '6 2001:db8::1']],
    ['BOTH.example.com.', ['4 192.0.2.1', '4 192.0.2.2', '6 2001:db8::1']],
    ['four.example.com', ['4 192.0.2.4']],
    ['six.example.com', ['6 2001:db8::6']],
    ['127.0.0.1', ['4 127.0.0.1']],
    ['::1', ['6 ::1']],
    ['localhost', ['4 127.0.0.1', '6 ::1']],
    ['keys.localhost', ['4 127.0.0.1', '6 ::1']],
    ['written.example.com', ['4 10.1.2.3']],
    ['alias', ['4 10.1.2.3']],
  ])('%s has the addresses that servers and the hosts file say', async (host, addresses) => {
    expect(await addressesOf(host)).toEqual(addresses);
  });

  it('has as many addresses as anybody needs', async () => {
    expect(await addressesOf('many.example.com')).toHaveLength(16);
  });

  it.each([
    ['none.example.com', 'ENODATA'],
    ['keys.invalid', 'ENOTFOUND'],
  ])('%s has none', async (host, code) => {
    await expect(resolve(host, NEVER)).rejects.toMatchObject({ code });
  });

  it('that no server speaks of is given up at once when its time is over', async () => {
    const over = new AbortController();
    const resolving = resolve('silent.example.com', over.signal);
    const refused = expect(resolving).rejects.toMatchObject({ code: 'ECANCELLED' });
    await until(() => dns.asked.includes('silent.example.com'));
    over.abort();
    await refused;
    await expect(resolve('silent.example.com', over.signal)).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('that no server speaks of is given up after two tries', async () => {
    await expect(resolve('silent2.example.com', NEVER)).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(dns.asked.filter((name) => name === 'silent2.example.com')).toHaveLength(4);
  });
});

describe('a fetch by these addresses', () => {
  it('goes where the server says', async () => {
    const stub = await startHttpStub(answerJson({ keys: [{ kty: 'RSA' }] }));
    try {
      const uri = `http://inside.example.com:${stub.port}/keys`;
      expect(await fetchJwks(uri, { allowPrivate: true, resolve })).toEqual([{ kty: 'RSA' }]);
      expect(stub.requests[0]?.headers.host).toBe(`inside.example.com:${stub.port}`);
    } finally {
      await stub.stop();
    }
  });

  it.each(['inside', 'mapped', 'mixed', 'written'])('goes to no private address: %s', async (name) => {
    const fetched = fetchJwks(`https://${name}.example.com/keys`, { allowPrivate: false, resolve });
    await expect(fetched).rejects.toThrow('not of the public Internet');
  });

  it('ends with its time, whatever the server does', async () => {
    const fetched = fetchJwks('https://silent3.example.com/', { allowPrivate: true, resolve, timeMsMax: 50 });
    await expect(fetched).rejects.toThrow('It took too long.');
  });
});
