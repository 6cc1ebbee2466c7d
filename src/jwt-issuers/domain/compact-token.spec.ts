import fc from 'fast-check';
import { readToken } from './compact-token';

const base64url = (content: string | Buffer): string => Buffer.from(content as string).toString('base64url');
const PAYLOAD = { iss: 'https://login.example.com', aud: 'campaigns', sub: 'jane' };

function token(header: unknown, payload: unknown = PAYLOAD, signature = 'c2ln'): string {
  return `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}.${signature}`;
}

function refusalOf(text: string): string {
  const read = readToken(text);
  return 'refused' in read ? read.refused : 'taken';
}

describe('readToken', () => {
  it('tells who could verify a token', () => {
    expect(readToken(token({ alg: 'RS256', kid: 'k' }, { ...PAYLOAD, aud: ['a', 'b', 'a'] }))).toEqual({
      head: { algorithm: 'RS256', keyId: 'k', issuer: PAYLOAD.iss, audiences: ['a', 'b'] },
    });
    expect(readToken(token({ alg: 'ES256' }))).toMatchObject({ head: { keyId: undefined, audiences: ['campaigns'] } });
  });

  it.each([
    ['one part', 'abc'],
    ['two parts', token({ alg: 'RS256' }).split('.').slice(0, 2).join('.')],
    ['four parts', `${token({ alg: 'RS256' })}.abc`],
    ['two dots', '..'],
    ['padding', `${token({ alg: 'RS256' }, PAYLOAD, 'YQ')}==`],
    ['the other alphabet', token({ alg: 'RS256' }, PAYLOAD, '++//')],
    ['spare bits that are set', token({ alg: 'RS256' }, PAYLOAD, 'YR')],
    ['a single character', token({ alg: 'RS256' }, PAYLOAD, 'A')],
    ['a header that is a list', token(['RS256'])],
    ['a header that is null', token(null)],
    ['a payload that is text', token({ alg: 'RS256' }, 'claims')],
    ['a header with a byte order mark', `${base64url('\ufeff{"alg":"RS256"}')}.${base64url('{}')}.c2ln`],
    [
      'a payload that is not UTF-8',
      `${base64url('{"alg":"RS256"}')}.${base64url(Buffer.from([0x22, 0xff, 0x22]))}.c2ln`,
    ],
    ['a payload that is not JSON', `${base64url('{"alg":"RS256"}')}.${base64url("{'iss':1}")}.c2ln`],
  ])('refuses %s', (_what, text) => {
    expect(refusalOf(text)).toContain('three base64url parts');
  });

  it.each([
    ['an extension', { alg: 'RS256', crit: ['exp'] }, PAYLOAD, 'crit'],
    ['an empty list of extensions', { alg: 'RS256', crit: [] }, PAYLOAD, 'crit'],
    ['no algorithm', {}, PAYLOAD, 'alg'],
    ['an algorithm that is a list', { alg: ['RS256'] }, PAYLOAD, 'alg'],
    ['a key id that is a number', { alg: 'RS256', kid: 1 }, PAYLOAD, 'kid'],
    ['no issuer', { alg: 'RS256' }, { aud: 'campaigns' }, 'iss'],
    ['an issuer that is a list', { alg: 'RS256' }, { ...PAYLOAD, iss: [PAYLOAD.iss] }, 'iss'],
    ['no audience', { alg: 'RS256' }, { iss: PAYLOAD.iss }, 'aud'],
    ['an empty list of audiences', { alg: 'RS256' }, { ...PAYLOAD, aud: [] }, 'aud'],
    ['an audience that is a number', { alg: 'RS256' }, { ...PAYLOAD, aud: ['campaigns', 1] }, 'aud'],
    ['an audience that is an object', { alg: 'RS256' }, { ...PAYLOAD, aud: { 0: 'campaigns' } }, 'aud'],
    ['17 audiences', { alg: 'RS256' }, { ...PAYLOAD, aud: Array.from({ length: 17 }, (_, at) => `a${at}`) }, 'aud'],
  ])('refuses %s and says so', (_what, header, payload, words) => {
    expect(refusalOf(token(header, payload))).toContain(words);
  });

  it('takes 16 audiences', () => {
    const aud = Array.from({ length: 16 }, (_, at) => `a${at}`);
    expect(readToken(token({ alg: 'RS256' }, { ...PAYLOAD, aud }))).toMatchObject({ head: { audiences: aud } });
  });

  it('never throws, and repeats nothing of what it refuses', () => {
    const part = fc.oneof(fc.base64String(), fc.json().map(base64url), fc.string());
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const refusals = new Set(parts.map((each) => refusalOf(each)));
        expect([...refusals].every((words) => words.endsWith('.'))).toBe(true);
        readToken(parts.join('.'));
      }),
    );
  });
});
