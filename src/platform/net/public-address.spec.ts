import fc from 'fast-check';
import { isPublicAddress, URL_CHARACTERS_MAX, publicUrlFault } from './public-address';

const PRIVATE_ADDRESSES = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.0.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
  ...['255.255.255.255', '::', '::1', '::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ...['::ffff:8.8.8.8', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', '100::1'],
  ...['2001::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::', '2002:808:808::1'],
  ...['3fff::1', '4000::1', '5f00::1', 'fc00::1', 'fd00::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1'],
];

const PUBLIC_ADDRESSES = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '172.32.0.1', '193.0.0.1', '2606:4700::1111'];

/** Spellings that the URL parser or a careless program takes for an address. */
const ODD_SPELLINGS = [
  '',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f.1',
  '010.8.8.8',
  '8.8.8',
  '8.8.8.8.',
  ' 8.8.8.8',
  '[::1]',
];

const PRIVATE_HOSTS = [
  ...['127.1', '0x7f.1', '2130706433', '017700000001', '0', '0x0', '127.0.0.1.', '①②⑦.0.0.1', '127%2e0.0.1'],
  ...['[::]', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[fd00::1]'],
  ...['[fec0::1]', '[0:0:0:0:0:ffff:a00:1]', '[2002:7f00:1::1]', '169.254.169.254', '10.0.0.1', '3232235521'],
  ...['metadata.google.internal', 'metadata.google.internal.', 'localhost', 'localhost.', 'LOCALHOST', 'loc%61lhost'],
  ...['a.localhost', 'localhost.localdomain', 'printer.local', 'router.home.arpa', 'postgres', 'postgres.', 'com..'],
  ...['keys.example.com..', '.example.com', 'keys..example.com'],
];

/** What every caller may write, whatever the rules about private addresses. */
const MALFORMED = [
  ...['', 'https:', 'https://', 'https:///keys.example.com', 'https:/keys.example.com', 'https:keys.example.com'],
  ...['//keys.example.com', '/keys', 'keys.example.com', 'ftp://keys.example.com', 'file:///etc/passwd', 'data:,{}'],
  ...[
    'javascript:0',
    'blob:https://keys.example.com/1',
    ' https://keys.example.com',
    'https://keys.example.com ',
    'https://[fe80::1%25eth0]',
  ],
  ...[
    'https://keys.ex\tample.com',
    'https://keys.example.com/\n',
    'https://keys.example.com\\@127.0.0.1',
    'https://[::1',
  ],
  ...[
    'https://keys.example.com:99999',
    'https://1.2.3.4.5',
    'https://keys.example.com/\u0000',
    'https://keys.example.com/\uD800',
  ],
  ...['https://user:pass@keys.example.com', 'https://user@keys.example.com', 'https://:pass@keys.example.com'],
  ...['https://keys.example.com/#', 'https://keys.example.com/#keys'],
];

describe('isPublicAddress', () => {
  it.each(PRIVATE_ADDRESSES)('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(PUBLIC_ADDRESSES)('takes %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(ODD_SPELLINGS)('refuses %j, which no resolver writes', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('refuses every IPv4 address that is wrapped into IPv6, whatever is inside', () => {
    const prefixes = fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::');
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(prefixes, fc.tuple(octet, octet, octet, octet), (prefix, octets) => {
        expect(isPublicAddress(prefix + octets.join('.'))).toBe(false);
      }),
    );
  });
});

describe('publicUrlFault', () => {
  it.each(PRIVATE_HOSTS)('refuses the host %s, and takes it when private addresses are allowed', (host) => {
    expect(publicUrlFault(`https://${host}/keys`, false)).toContain('public Internet');
    expect(publicUrlFault(`https://${host}/keys`, true)).toBeUndefined();
    expect(publicUrlFault(`http://${host}:8080/keys`, true)).toBeUndefined();
  });

  it.each(MALFORMED)('refuses %j in any case', (uri) => {
    expect(publicUrlFault(uri, false)).toBeDefined();
    expect(publicUrlFault(uri, true)).toBeDefined();
  });

  it.each([
    'https://keys.example.com',
    'HTTPS://keys.example.com:8443/a/b?c=d@e',
    'https://8.8.8.8/',
    'https://keys.example.com./',
    'https://bücher.example/',
  ])('takes %s', (uri) => {
    expect(publicUrlFault(uri, false)).toBeUndefined();
  });

  it('takes http only when private addresses are allowed', () => {
    expect(publicUrlFault('http://keys.example.com', false)).toContain('https');
    expect(publicUrlFault('http://keys.example.com', true)).toBeUndefined();
  });

  it('takes 2,048 characters and no more', () => {
    const start = 'https://keys.example.com/';
    expect(publicUrlFault(start.padEnd(URL_CHARACTERS_MAX, 'x'), false)).toBeUndefined();
    expect(publicUrlFault(start.padEnd(URL_CHARACTERS_MAX + 1, 'x'), false)).toContain('2048');
  });

  it('never repeats the address', () => {
    for (const uri of [...MALFORMED, ...PRIVATE_HOSTS.map((host) => `https://${host}/secret`)]) {
      expect(publicUrlFault(uri, false)).not.toMatch(/example|secret|pass|127|localhost\b/);
    }
  });
});
