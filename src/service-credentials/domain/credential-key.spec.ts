import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { credentialKey } from './credential-key';

const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const PEM = pem(publicKey);
const DER = publicKey.export({ type: 'spki', format: 'der' });
const PRIVATE_PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const slowRsa = createPublicKey({
  format: 'jwk',
  key: {
    kty: 'RSA',
    n: Buffer.alloc(384, 0xff).toString('base64url'),
    e: Buffer.alloc(375, 0x7f).toString('base64url'),
  },
});
const CERTIFICATE = PEM.replaceAll('PUBLIC KEY', 'CERTIFICATE');

const blockOf = (der: Buffer): string =>
  `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----`;
const withPoint = (hex: string): string => blockOf(Buffer.concat([DER.subarray(0, -32), Buffer.from(hex, 'hex')]));

function faultsOf(algorithm: 'ed25519' | 'hmac-sha256', key: string | undefined, canSeal = true): unknown {
  const checked = credentialKey({ algorithm, publicKey: key }, canSeal);
  return 'faults' in checked ? checked.faults.map(({ path, code }) => `${path} ${code}`) : checked;
}

describe('the key of an Ed25519 credential', () => {
  it.each([
    ['as OpenSSL writes it', PEM],
    ['without a line break at its end', PEM.trim()],
    ['with line breaks of Windows', PEM.replaceAll('\n', '\r\n')],
    ['with white space around it', `\n  ${PEM}\n\n`],
    ['broken into other lines', PEM.replace(/(?<=\n.{10})/, '\n')],
  ])('is stored in one form: %s', (_what, text) => {
    expect(faultsOf('ed25519', text)).toEqual({ algorithm: 'ed25519', publicKey: PEM });
  });

  it('needs no SECRETS_KEY', () => {
    expect(faultsOf('ed25519', PEM, false)).toEqual({ algorithm: 'ed25519', publicKey: PEM });
  });

  it('must be sent', () => {
    expect(faultsOf('ed25519', undefined)).toEqual(['publicKey required']);
  });

  it.each([
    ['an empty text', ''],
    ['words', 'my key'],
    ['base64 without its frame', DER.toString('base64')],
    ['a frame around nothing', blockOf(Buffer.alloc(0))],
    ['a frame around something', blockOf(Buffer.from('something'))],
    ['a key cut short', blockOf(DER.subarray(0, -1))],
    ['two keys', PEM + PEM],
    ['a key with words before it', `my key: ${PEM}`],
    ['a certificate', CERTIFICATE],
    ['PKCS#1', rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
    ['an SSH key', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE9 me@example.com'],
    ['an RSA key', pem(rsa.publicKey)],
    ['an RSA key with an exponent of 3,000 bits', pem(slowRsa)],
    ['an Ed25519 key with more behind it', blockOf(Buffer.concat([DER, Buffer.alloc(8)]))],
    ['an Ed25519 key with parameters', blockOf(Buffer.from(DER).fill(0x2c, 1, 2))],
    ['an X25519 key', pem(generateKeyPairSync('x25519').publicKey)],
    ['an Ed448 key', pem(generateKeyPairSync('ed448').publicKey)],
    ['a P-256 key', pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)],
    ['8 KiB of spaces in a frame', `-----BEGIN PUBLIC KEY-----\n${' '.repeat(8_000)}`],
  ])('may not be %s', (_what, text) => {
    expect(faultsOf('ed25519', text)).toEqual(['publicKey format']);
  });

  it.each([
    ['zeros', '00'.repeat(32)],
    ['zeros with a sign', `${'00'.repeat(31)}80`],
    ['the neutral point', `01${'00'.repeat(31)}`],
    ['the point of order 2', `ec${'ff'.repeat(30)}7f`],
    ['a point of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
    ['the same with a sign', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'],
  ])('may not be one that anybody can sign for: %s', (_what, point) => {
    const checked = credentialKey({ algorithm: 'ed25519', publicKey: withPoint(point) }, true);
    expect(checked).toMatchObject({ faults: [{ message: expect.stringContaining('anybody can sign') }] });
  });
});

describe('a private key', () => {
  it.each([
    ['PKCS#8', PRIVATE_PEM],
    ['behind its public half', PEM + PRIVATE_PEM],
    [
      'encrypted',
      privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString(),
    ],
    ['of RSA', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
    ['of OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE=\n-----END OPENSSH PRIVATE KEY-----'],
    ['with its line breaks lost', PRIVATE_PEM.replaceAll('\n', '')],
  ])('is refused loudly, since it is no secret any more: %s', (_what, text) => {
    for (const algorithm of ['ed25519', 'hmac-sha256'] as const) {
      const checked = credentialKey({ algorithm, publicKey: text }, true);
      const faults = 'faults' in checked ? checked.faults : [];
      expect(faults).toHaveLength(1);
      expect(faults[0]?.message).toMatch(/private key.*no secret any more.*make a new pair/);
      expect(faults[0]?.message).not.toContain(text.split('\n')[1] ?? text.slice(30, 60));
    }
  });
});

describe('an HMAC credential', () => {
  it('has no key of the caller', () => {
    expect(faultsOf('hmac-sha256', undefined)).toEqual({ algorithm: 'hmac-sha256', publicKey: null });
    expect(faultsOf('hmac-sha256', PEM)).toEqual(['publicKey conflicting_fields']);
    expect(faultsOf('hmac-sha256', 'a secret of mine')).toEqual(['publicKey conflicting_fields']);
  });

  it('cannot be made by a service that cannot seal its secret', () => {
    expect(faultsOf('hmac-sha256', undefined, false)).toEqual(['algorithm secrets_key_missing']);
    expect(faultsOf('hmac-sha256', PEM, false)).toEqual([
      'publicKey conflicting_fields',
      'algorithm secrets_key_missing',
    ]);
  });
});
