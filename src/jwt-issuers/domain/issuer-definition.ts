import type { Fault } from '../../platform/errors/fault';
import { enumFault, formatFault, itemPath } from '../../platform/errors/fault-words';
import { isObject } from '../../platform/values/json/json-values';
import { readInlineJwks } from '../jwks/inline-jwks';
import { publicUrlFault } from '../../platform/net/public-address';
import { candidates, usableKeys } from '../jwks/public-keys';
import { JWT_ALGORITHMS, PUBLIC_KEY_ALGORITHMS, SECRET_ALGORITHMS, type JwtAlgorithm } from './jwt-algorithms';

/** The sources of keys. An issuer has exactly one (contract section 2). */
export const KEY_SOURCES = ['jwksUri', 'jwks', 'secret'] as const;
export type KeySource = (typeof KEY_SOURCES)[number];

/** What the settings of the service allow. */
export interface IssuerPolicy {
  /** `JWKS_ALLOW_PRIVATE`. */
  readonly allowPrivate: boolean;
  /** Whether there is a `SECRETS_KEY`. */
  readonly canSeal: boolean;
}

/** Bytes of JSON text; the limit of a fetched key set. */
const JWKS_BYTES_MAX = 64 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** Characters of `issuer` and of `audience`. */
export const NAME_CHARACTERS_MAX = 512;
/** Bytes in UTF-8 of each: both together form an index entry, which has at most 2,704 bytes. */
const NAME_BYTES_MAX = 1_300;
/** Bytes in UTF-8. HS256 is as strong as its secret up to the 32 bytes of its hash (RFC 7518, 3.2). */
export const SECRET_BYTES_MIN = 32;
export const SECRET_BYTES_MAX = 1_024;

/** The algorithms of an issuer that lists none. */
export function defaultAlgorithms(source: KeySource): readonly JwtAlgorithm[] {
  return source === 'secret' ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS;
}

/** The key sources in a body; null means absent. */
export function keySourcesOf(fields: Fields): readonly KeySource[] {
  return KEY_SOURCES.filter((name) => fields[name] != null);
}

/**
 * The faults of an issuer's fields beyond their shape. The shape may be wrong as well: a field of another type is ignored
 * here, because the DTO's check reports it. `kept`: the source of keys where the fields have none.
 */
export function issuerFaults(fields: Fields, policy: IssuerPolicy, kept?: KeySource): readonly Fault[] {
  const sent = keySourcesOf(fields);
  const sources = sent.length === 0 && kept !== undefined ? [kept] : sent;
  return [
    ...nameFaults(fields, 'issuer'),
    ...nameFaults(fields, 'audience'),
    ...sourceFaults(sources),
    ...algorithmFaults(fields, sources),
    ...uriFaults(fields['jwksUri'], policy),
    ...inlineKeyFaults(fields),
    ...secretFaults(fields['secret'], policy),
    ...campaignFaults(fields),
  ];
}

function nameFaults(fields: Fields, path: 'issuer' | 'audience'): Fault[] {
  const name = fields[path];
  if (typeof name !== 'string' || Buffer.byteLength(name) <= NAME_BYTES_MAX) return [];
  return [{ path, code: 'too_long', message: `${path} is longer than ${NAME_BYTES_MAX} bytes in UTF-8.` }];
}

function sourceFaults(sources: readonly KeySource[]): Fault[] {
  const choice = 'jwksUri, jwks and secret';
  if (sources.length === 0) {
    return [{ path: '', code: 'required', message: `One of ${choice} is required: it says where the keys come from.` }];
  }
  const [, ...others] = sources;
  const message = `${sources.join(' and ')} are set; send one of ${choice}.`;
  return others.map((path) => ({ path, code: 'conflicting_fields', message }));
}

/** HS256 beside public keys would let clients sign with a published key as the secret. */
function algorithmFaults(fields: Fields, sources: readonly KeySource[]): Fault[] {
  const listed = algorithmsOf(fields);
  if (listed === undefined) return [];
  const [source, ...others] = sources;
  if (source !== undefined && others.length === 0) {
    const allowed: readonly string[] = defaultAlgorithms(source);
    return listed.flatMap((algorithm, index) => {
      if (allowed.includes(algorithm)) return [];
      const { path, code, message } = enumFault(itemPath('algorithms', index), allowed);
      return { path, code, message: message.replace(/\.$/, ` where the keys come from ${source}.`) };
    });
  }
  if (!listed.includes('HS256') || listed.every((algorithm) => algorithm === 'HS256')) return [];
  const message = 'algorithms has HS256, which is for a secret, beside algorithms of public keys.';
  return [{ path: 'algorithms', code: 'conflicting_fields', message }];
}

/** The algorithms that are listed and exist; undefined when there are none. */
function algorithmsOf({ algorithms }: Fields): readonly JwtAlgorithm[] | undefined {
  if (!Array.isArray(algorithms)) return undefined;
  const isKnown = (each: unknown): each is JwtAlgorithm => JWT_ALGORITHMS.some((algorithm) => algorithm === each);
  return algorithms.length > 0 && algorithms.every(isKnown) ? algorithms : undefined;
}

function uriFaults(uri: unknown, { allowPrivate }: IssuerPolicy): Fault[] {
  if (typeof uri !== 'string') return [];
  const words = publicUrlFault(uri, allowPrivate);
  return words === undefined ? [] : [formatFault('jwksUri', words)];
}

/** Refuses a key that fits no algorithm of the issuer: it could never verify a token. */
function inlineKeyFaults(fields: Fields): readonly Fault[] {
  const { jwks } = fields;
  if (!isObject(jwks)) return [];
  if (jsonBytesOf(jwks) > JWKS_BYTES_MAX) {
    return [{ path: 'jwks', code: 'too_large', message: `jwks is larger than ${JWKS_BYTES_MAX} bytes.` }];
  }
  const read = readInlineJwks('jwks', jwks);
  if ('faults' in read) return read.faults;
  const algorithms = algorithmsOf(fields) ?? PUBLIC_KEY_ALGORITHMS;
  return usableKeys(read.jwks.keys).flatMap((key, index) => {
    if (algorithms.some((alg) => candidates([key], { alg }).length > 0)) return [];
    return [
      formatFault(itemPath('jwks.keys', index), 'fits none of the algorithms; leave it out, or list one that it fits'),
    ];
  });
}

/** JSON.stringify recurses. Infinity for values that are nested too deeply for it: no key set is. */
function jsonBytesOf(value: object): number {
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch (error) {
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
}

function secretFaults(secret: unknown, { canSeal }: IssuerPolicy): Fault[] {
  if (typeof secret !== 'string') return [];
  const faults: Fault[] = [];
  const bytes = Buffer.byteLength(secret);
  if (bytes < SECRET_BYTES_MIN) {
    const message = `secret is shorter than ${SECRET_BYTES_MIN} bytes in UTF-8; take a longer, random one.`;
    faults.push({ path: 'secret', code: 'too_short', message });
  }
  if (bytes > SECRET_BYTES_MAX) {
    const message = `secret is longer than ${SECRET_BYTES_MAX} bytes in UTF-8.`;
    faults.push({ path: 'secret', code: 'too_long', message });
  }
  if (!canSeal) {
    const message =
      'secret cannot be stored: this service has no key to encrypt it with. Use public keys (jwksUri or jwks), or have the ' +
      'operator set SECRETS_KEY.';
    faults.push({ path: 'secret', code: 'secrets_key_missing', message });
  }
  return faults;
}

function campaignFaults({ defaultCampaignId, allowedCampaignIds }: Fields): Fault[] {
  if (typeof defaultCampaignId !== 'string' || !Array.isArray(allowedCampaignIds)) return [];
  if (allowedCampaignIds.includes(defaultCampaignId)) return [];
  const message = 'defaultCampaignId must be one of allowedCampaignIds.';
  return [{ path: 'defaultCampaignId', code: 'enum', message }];
}
