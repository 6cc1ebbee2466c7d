import { readSignatureInput } from './signature-input';

const COVERED = '("@method" "@path" "@query" "content-digest")';
const PARAMETERS = ';created=1767323045;keyid="key";alg="ed25519"';

describe('Signature-Input', () => {
  it('says what is covered, when, by whom and how', () => {
    expect(readSignatureInput(`sig1=${COVERED}${PARAMETERS}`)).toEqual({
      components: ['@method', '@path', '@query', 'content-digest'],
      created: 1_767_323_045,
      expires: undefined,
      keyId: 'key',
      algorithm: 'ed25519',
      serialized: `${COVERED}${PARAMETERS}`,
    });
  });

  it.each([
    ['parameters in another order', `${COVERED};alg="hmac-sha256";keyid="key";created=1`],
    ['components in another order', `("content-digest" "@query" "@path" "@method")${PARAMETERS}`],
    ['an expiry', `${COVERED}${PARAMETERS};expires=1767323145`],
    ['a nonce and a tag', `${COVERED};nonce="a \\"b\\" \\\\ c, sig1=";tag="app"${PARAMETERS}`],
    ['parameters of other types', `${COVERED}${PARAMETERS};a;b=?0;c=tok;d=:YQ==:;e=-1.5;f=1.25`],
    ['an empty key id', `${COVERED};created=1;keyid="";alg="ed25519"`],
  ])('is given back to the byte with %s', (_what, covered) => {
    expect(readSignatureInput(`sig1=${covered}`).serialized).toBe(covered);
  });

  it('is given back as RFC 9421 writes it when it came with spare white space', () => {
    const spaced = `sig1=( "@method"  "@path" "@query" "content-digest" ); created=1;  keyid="a  b"; alg="ed25519"`;
    expect(readSignatureInput(spaced).serialized).toBe(`${COVERED};created=1;keyid="a  b";alg="ed25519"`);
  });

  it('may hold the signatures of others, before and behind', () => {
    const other = '("@authority");created=1;keyid="proxy"';
    const { keyId } = readSignatureInput(`a=${other}, sig1=${COVERED}${PARAMETERS}, sig2=${other}`);
    expect(keyId).toBe('key');
  });

  it.each([
    ['nothing', '', /no signature with the label sig1/],
    ['another label', `sig2=${COVERED}${PARAMETERS}`, /no signature with the label sig1/],
    ['two of them', `sig1=${COVERED}${PARAMETERS}, sig1=${COVERED}${PARAMETERS}`, /not a dictionary/],
    ['a flag', 'sig1', /list of components/],
    ['a text', `sig1="@method"${PARAMETERS}`, /list of components/],
    ['no component', `sig1=()${PARAMETERS}`, /not cover "@method", "@path", "@query", "content-digest"/],
    ['one too few', `sig1=("@method" "@path" "content-digest")${PARAMETERS}`, /does not cover "@query"/],
    ['no digest', `sig1=("@method" "@path" "@query")${PARAMETERS}`, /does not cover "content-digest"/],
    [
      'one too many',
      `sig1=("@method" "@path" "@query" "content-digest" "date")${PARAMETERS}`,
      /a component other than/,
    ],
    ['one twice', `sig1=("@method" "@path" "@query" "content-digest" "@path")${PARAMETERS}`, /a component twice/],
    ['one in the place of another', `sig1=("@method" "@path" "@path" "content-digest")${PARAMETERS}`, /"@query"/],
    ['upper case', `sig1=("@method" "@path" "@query" "Content-Digest")${PARAMETERS}`, /a component other than/],
    ['tokens', `sig1=(method path query content-digest)${PARAMETERS}`, /a component other than/],
    ['the component of a request', `sig1=("@method";req "@path" "@query" "content-digest")${PARAMETERS}`, /"@method"/],
    ['a re-serialised field', `sig1=("@method" "@path" "@query" "content-digest";sf)${PARAMETERS}`, /takes none/],
    [
      'a part of a field',
      `sig1=("@method" "@path" "@query" "content-digest";key="sha-256")${PARAMETERS}`,
      /takes none/,
    ],
    ['no created', `sig1=${COVERED};keyid="key";alg="ed25519"`, /integer parameter created/],
    ['created as text', `sig1=${COVERED};created="1767323045";keyid="key";alg="ed25519"`, /integer parameter created/],
    ['created as a date', `sig1=${COVERED};keyid="key";alg="ed25519";created=@1767323045`, /integer parameter created/],
    ['created as a flag', `sig1=${COVERED};created;keyid="key";alg="ed25519"`, /integer parameter created/],
    ['created with a fraction', `sig1=${COVERED};created=1767323045.5;keyid="key";alg="ed25519"`, /parameter created/],
    ['created as a decimal', `sig1=${COVERED};created=1767323045.0;keyid="key";alg="ed25519"`, /not a dictionary/],
    ['created of 16 digits', `sig1=${COVERED};created=1000000000000000;keyid="key";alg="ed25519"`, /not a dictionary/],
    ['expires as text', `sig1=${COVERED}${PARAMETERS};expires="1767323045"`, /integer parameter expires/],
    ['no key id', `sig1=${COVERED};created=1;alg="ed25519"`, /parameter keyid/],
    ['a key id as token', `sig1=${COVERED};created=1;keyid=key;alg="ed25519"`, /parameter keyid/],
    ['no algorithm', `sig1=${COVERED};created=1;keyid="key"`, /parameter alg/],
    ['an algorithm as token', `sig1=${COVERED};created=1;keyid="key";alg=ed25519`, /parameter alg/],
    ['another algorithm', `sig1=${COVERED};created=1;keyid="key";alg="rsa-v1_5-sha256"`, /one of these as alg/],
    ['an algorithm in upper case', `sig1=${COVERED};created=1;keyid="key";alg="Ed25519"`, /one of these as alg/],
    ['none', `sig1=${COVERED};created=1;keyid="key";alg="none"`, /one of these as alg/],
    ['a property of the language', `sig1=${COVERED};created=1;keyid="key";alg="constructor"`, /one of these as alg/],
  ])('is refused with %s', (_what, header, words) => {
    expect(() => readSignatureInput(header)).toThrow(words);
  });

  it('may not be missing', () => {
    expect(() => readSignatureInput(undefined)).toThrow('The header Signature-Input is missing');
  });
});
