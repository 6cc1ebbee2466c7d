import { createHash } from 'node:crypto';
import { readContentDigest } from './content-digests';

const digest = (algorithm: string): Buffer => createHash(algorithm).update('body').digest();
const sha256 = `sha-256=:${digest('sha256').toString('base64')}:`;
const sha512 = `sha-512=:${digest('sha512').toString('base64')}:`;
const md5 = `md5=:${digest('md5').toString('base64')}:`;
const sha1 = `sha=:${digest('sha1').toString('base64')}:`;
const DIGESTS = {
  sha256: { algorithm: 'sha256', value: digest('sha256') },
  sha512: { algorithm: 'sha512', value: digest('sha512') },
};

describe('Content-Digest', () => {
  it.each([
    ['sha-256', sha256, [DIGESTS.sha256]],
    ['sha-512', sha512, [DIGESTS.sha512]],
    ['both, of which both will be checked', `${sha512}, ${sha256}`, [DIGESTS.sha512, DIGESTS.sha256]],
    ['one beside those that we do not know', `${md5}, ${sha256}, ${sha1}, new=1, list=(1)`, [DIGESTS.sha256]],
    ['one with a parameter', `${sha256};q=1`, [DIGESTS.sha256]],
  ])('may have %s', (_what, header, digests) => {
    expect(readContentDigest(header)).toEqual(digests);
  });

  it.each([
    ['nothing', '', /must have one of sha-256, sha-512/],
    ['only md5', md5, /must have one of/],
    ['only sha', sha1, /must have one of/],
    ['a digest of another length', sha256.replace('sha-256', 'sha-512'), /sha-512 must be 64 bytes/],
    ['one good digest and one cut short', `${sha512}, sha-256=:YQ==:`, /sha-256 must be 32 bytes/],
    ['a text', 'sha-256="abc"', /sha-256 must be 32 bytes/],
    ['a flag', 'sha-256', /sha-256 must be 32 bytes/],
    ['a list', 'sha-256=(:YQ==:)', /sha-256 must be 32 bytes/],
    ['the form of the Digest header', 'sha-256=abc=', /not a dictionary/],
    ['one digest twice', `${sha256}, ${sha256}`, /not a dictionary/],
  ])('may not have %s', (_what, header, words) => {
    expect(() => readContentDigest(header)).toThrow(words);
  });

  it('may not be missing', () => {
    expect(() => readContentDigest(undefined)).toThrow('The header Content-Digest is missing');
  });
});
