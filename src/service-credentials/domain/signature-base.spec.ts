import { createPublicKey, verify, createHmac } from 'node:crypto';
import { signatureBase } from './signature-base';

/** RFC 9421, appendix B.1.4 and B.1.5. */
const ED25519_PEM = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;
const SHARED_SECRET = Buffer.from(
  'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
  'base64',
);

describe('the signature base', () => {
  it('is that of RFC 9421, appendix B.2.6, whose Ed25519 signature it bears', () => {
    const params =
      '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
    const base = signatureBase(
      [
        ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
        ['@method', 'POST'],
        ['@path', '/foo'],
        ['@authority', 'example.com'],
        ['content-type', 'application/json'],
        ['content-length', '18'],
      ],
      params,
    );
    const signature = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';
    expect(verify(null, Buffer.from(base), createPublicKey(ED25519_PEM), Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('is that of appendix B.2.5, whose HMAC it has', () => {
    const params = '("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"';
    const base = signatureBase(
      [
        ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
        ['@authority', 'example.com'],
        ['content-type', 'application/json'],
      ],
      params,
    );
    expect(createHmac('sha256', SHARED_SECRET).update(base).digest('base64')).toBe(
      'pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=',
    );
  });

  it('has a line for each component in the order of the signature, and ends in the parameters without a line break', () => {
    expect(
      signatureBase(
        [
          ['@query', '?'],
          ['@method', 'POST'],
        ],
        '("@query" "@method");created=1',
      ),
    ).toBe('"@query": ?\n"@method": POST\n"@signature-params": ("@query" "@method");created=1');
  });
});
