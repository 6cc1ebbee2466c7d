import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { compactVerify, errors } from 'jose';
import { credentialRefused } from '../platform/errors/challenges';
import { isKeyFor, type JwtAlgorithm } from './domain/jwt-algorithms';
import { KeySets } from './jwks/key-sets';
import { candidates } from './jwks/public-keys';
import type { KnownIssuer } from './known-issuers';

/** What the header of a token says about its signature. */
export interface SignedBy {
  readonly algorithm: string;
  readonly keyId: string | undefined;
}

/**
 * A token without a key id is tried with several keys of its issuer, up to this sum of their bits: 20 keys of 2048 bits, or 5
 * of 8192, which takes some milliseconds (docs/adr/0042). Real issuers publish two or three keys.
 */
const TRIED_BITS_MAX = 20 * 2048;
/** A key on a curve costs as much as an RSA key with this many bits. */
const CURVE_KEY_BITS = 2048;

/** Finds the key that a token must have been signed with. */
@Injectable()
export class TokenKeys {
  constructor(private readonly keySets: KeySets) {}

  /**
   * Keys come only from the issuer's record, never from a token's header. Throws `invalid_token` when no key fits, and
   * `unavailable` when the issuer's key source is away and none of its keys is cached.
   */
  async keyFor(issuer: KnownIssuer, token: string, { algorithm, keyId }: SignedBy): Promise<KeyObject> {
    const allowed = issuer.record.algorithms.find((each) => each === algorithm);
    if (allowed === undefined) {
      throw credentialRefused('invalid_token', 'The issuer does not sign with the algorithm (alg) of the token.');
    }
    const found = await this.keysOf(issuer, allowed, keyId);
    const fitting = found.filter((key) => isKeyFor(allowed, key));
    const [key, ...others] = fitting;
    if (key === undefined) {
      throw credentialRefused(
        'invalid_token',
        'The issuer has no key that the token can have been signed with (kid, alg).',
      );
    }
    if (others.length === 0) return key;
    const tried = withinTriedBits(fitting);
    const signer = await signerOf(token, allowed, tried);
    if (signer === undefined && tried.length < fitting.length) {
      throw credentialRefused(
        'invalid_token',
        `None of the ${tried.length} keys that were tried has signed the token; have its issuer name one key (kid).`,
      );
    }
    // Without a signer the library refuses the token with any key.
    return signer ?? key;
  }

  private async keysOf(
    { record, keys }: KnownIssuer,
    alg: JwtAlgorithm,
    kid: string | undefined,
  ): Promise<readonly KeyObject[]> {
    if ('secret' in keys) return [keys.secret];
    if ('inline' in keys) return candidates(keys.inline, { alg, kid });
    return this.keySets.keysFor({ tenantId: record.tenantId, id: record.id, jwksUri: keys.jwksUri }, { alg, kid });
  }
}

/** The first keys, as many as may be tried for one token. */
function withinTriedBits(keys: readonly KeyObject[]): readonly KeyObject[] {
  let bits = 0;
  return keys.filter(({ asymmetricKeyDetails }) => {
    bits += asymmetricKeyDetails?.modulusLength ?? CURVE_KEY_BITS;
    return bits <= TRIED_BITS_MAX;
  });
}

async function signerOf(
  token: string,
  algorithm: JwtAlgorithm,
  keys: readonly KeyObject[],
): Promise<KeyObject | undefined> {
  for (const key of keys) {
    if (await isSignedWith(token, algorithm, key)) return key;
  }
  return undefined;
}

async function isSignedWith(token: string, algorithm: JwtAlgorithm, key: KeyObject): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [algorithm] });
    return true;
  } catch (error) {
    if (error instanceof errors.JOSEError) return false;
    throw error;
  }
}
