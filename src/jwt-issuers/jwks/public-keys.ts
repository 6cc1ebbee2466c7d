import { createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import type { Fault } from '../../platform/errors/fault';
import {
  enumFault,
  fieldPath,
  formatFault,
  invalidCharactersFault,
  rangeFault,
  typeFault,
} from '../../platform/errors/fault-words';
import { isObject } from '../../platform/values/json/json-values';
import { isStorable } from '../../platform/values/text/text-rules';

/** A key that can verify tokens. */
export interface PublicKey {
  readonly kid: string | undefined;
  /** The only algorithm of the key; undefined: any that fits its type. */
  readonly alg: string | undefined;
  readonly key: KeyObject;
}

/** What a token's header says about its key. */
export interface KeySelector {
  readonly alg: string;
  readonly kid?: string | undefined;
}

export type KeyReading = { readonly key: PublicKey } | { readonly faults: readonly Fault[] };

type Jwk = Readonly<Record<string, unknown>>;

/** Issuers publish two or three. Each costs time to read. */
const FETCHED_KEYS_MAX = 100;
/** Shorter keys can be broken (NIST SP 800-131A). With longer ones each token costs milliseconds. */
const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 8192;
/** With the exponent 1, signatures can be forged. */
const RSA_EXPONENT_MIN = 3n;
/**
 * The usual exponent is 65537. The time of a verification grows with the bits of the exponent: with 32 of them a key of 8192 bits
 * takes below a millisecond (docs/adr/0042), with thousands of them a key of 3072 bits takes more than ten times as long.
 */
const RSA_EXPONENT_MAX = 2n ** 32n - 1n;
/** Characters of base64url that the longest modulus and exponent need, and some for zeros before them. */
const MODULUS_CHARACTERS_MAX = Math.ceil((RSA_BITS_MAX / 6) * 1.1);
const EXPONENT_CHARACTERS_MAX = 16;

const KEY_TYPES = ['RSA', 'EC'] as const;
/** By type, what a key may be used with. */
const ALGORITHMS = { RSA: ['RS256', 'PS256'], EC: ['ES256'] } as const;
const CURVE = 'P-256';
/** What a private or symmetric key has and a public one has not (RFC 7518, section 6). */
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** The keys of a JWK Set that can verify tokens. Others are ignored: a set may have keys for other purposes. */
export function usableKeys(entries: readonly unknown[]): readonly PublicKey[] {
  return entries.slice(0, FETCHED_KEYS_MAX).flatMap((entry) => {
    const reading = readKey('', entry);
    return 'key' in reading ? [reading.key] : [];
  });
}

/** The keys that a token may have been signed with: without a `kid` in its header, all that fit its algorithm. */
export function candidates(keys: readonly PublicKey[], selector: KeySelector): readonly KeyObject[] {
  return keys
    .filter(({ kid, alg, key }) => {
      const algorithms: readonly string[] = alg === undefined ? ALGORITHMS[typeOf(key)] : [alg];
      return algorithms.includes(selector.alg) && (selector.kid === undefined || selector.kid === kid);
    })
    .map(({ key }) => key);
}

/** Reads one entry of a JWK Set as a key, or returns its faults. `path` is the path of the entry. */
export function readKey(path: string, jwk: unknown): KeyReading {
  if (!isObject(jwk)) return { faults: [typeFault(path, 'an object')] };
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(jwk, member))) {
    // The key has leaked, so not even its public half is accepted.
    const words = 'holds a secret key, which must count as leaked; make a new key pair and give its public half only';
    return { faults: [formatFault(path, words)] };
  }
  const type = KEY_TYPES.find((known) => known === jwk['kty']);
  if (type === undefined) return { faults: [enumFault(fieldPath(path, 'kty'), KEY_TYPES)] };
  const faults = [...purposeFaults(path, jwk, ALGORITHMS[type]), ...kidFaults(path, jwk)];
  if (type === 'EC' && jwk['crv'] !== CURVE) faults.push(enumFault(fieldPath(path, 'crv'), [CURVE]));
  if (faults.length > 0) return { faults };
  return readMaterial(path, jwk);
}

function purposeFaults(path: string, { use, key_ops: operations, alg }: Jwk, algorithms: readonly string[]): Fault[] {
  const faults: Fault[] = [];
  if (use !== undefined && use !== 'sig') faults.push(enumFault(fieldPath(path, 'use'), ['sig']));
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    faults.push(formatFault(fieldPath(path, 'key_ops'), 'must be a list that has verify among it'));
  }
  if (alg !== undefined && !algorithms.some((known) => known === alg)) {
    faults.push(enumFault(fieldPath(path, 'alg'), algorithms));
  }
  return faults;
}

function kidFaults(path: string, { kid }: Jwk): Fault[] {
  if (kid === undefined) return [];
  if (typeof kid !== 'string') return [typeFault(fieldPath(path, 'kid'), 'a string')];
  return isStorable(kid) ? [] : [invalidCharactersFault(fieldPath(path, 'kid'))];
}

/** Reads the key itself, after all other checks of the entry. */
function readMaterial(path: string, jwk: Jwk): KeyReading {
  // Before the library spends time on it.
  const oversized: Fault[] = [];
  if (isLonger(jwk['n'], MODULUS_CHARACTERS_MAX)) oversized.push(modulusFault(path));
  if (isLonger(jwk['e'], EXPONENT_CHARACTERS_MAX)) oversized.push(exponentFault(path));
  if (jwk['kty'] === 'RSA' && oversized.length > 0) return { faults: oversized };
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JsonWebKeyInput['key'], format: 'jwk' });
  } catch {
    const members = jwk['kty'] === 'EC' ? 'x and y, a point of its curve,' : 'n and e';
    return { faults: [formatFault(path, `must have ${members} in base64url`)] };
  }
  const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
  const faults: Fault[] = [];
  if (modulusLength !== undefined && !(modulusLength >= RSA_BITS_MIN && modulusLength <= RSA_BITS_MAX)) {
    faults.push(modulusFault(path));
  }
  if (publicExponent !== undefined && !isExponent(publicExponent)) faults.push(exponentFault(path));
  if (faults.length > 0) return { faults };
  return { key: { kid: jwk['kid'] as string | undefined, alg: jwk['alg'] as string | undefined, key } };
}

function isLonger(value: unknown, charactersMax: number): boolean {
  return typeof value === 'string' && value.length > charactersMax;
}

function isExponent(exponent: bigint): boolean {
  return exponent >= RSA_EXPONENT_MIN && exponent <= RSA_EXPONENT_MAX && exponent % 2n === 1n;
}

function modulusFault(path: string): Fault {
  return rangeFault(fieldPath(path, 'n'), `of ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits`);
}

function exponentFault(path: string): Fault {
  return rangeFault(
    fieldPath(path, 'e'),
    `an odd number from ${RSA_EXPONENT_MIN} to ${RSA_EXPONENT_MAX}, such as 65537`,
  );
}

function typeOf(key: KeyObject): (typeof KEY_TYPES)[number] {
  return key.asymmetricKeyType === 'ec' ? 'EC' : 'RSA';
}
