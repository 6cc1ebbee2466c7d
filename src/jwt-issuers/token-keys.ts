import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { compactVerify, errors } from 'jose';
import { credentialRefused } from '../platform/auth/challenges';
import { isKeyFor, type JwtAlgorithm } from './domain/jwt-algorithms';
import { KeySets } from './jwks/key-sets';
import { candidates } from './jwks/public-keys';
import type { KnownIssuer } from './known-issuers';

/** How a token says that it was signed. */
export interface SignedBy {
  readonly algorithm: string;
  readonly keyId: string | undefined;
}

/** A token without a key id is tried with so many keys of its issuer; a real one publishes two or three. */
const TRIED_KEYS_MAX = 20;

/** Finds the key that a token must have been signed with. */
@Injectable()
export class TokenKeys {
  constructor(private readonly keySets: KeySets) {}

  /**
   * Keys come only from the issuer's record, never from a token's header. Throws `invalid_token` when none fits, and
   * `unavailable` when the issuer's key source is away and none of its keys is known.
   */
  async keyFor(issuer: KnownIssuer, token: string, { algorithm, keyId }: SignedBy): Promise<KeyObject> {
    const allowed = issuer.record.algorithms.find((each) => each === algorithm);
    if (allowed === undefined) {
      throw credentialRefused('invalid_token', 'The issuer does not sign with the algorithm (alg) of the token.');
    }
    const found = await this.keysOf(issuer, allowed, keyId);
    const fitting = found.filter((key) => isKeyFor(allowed, key)).slice(0, TRIED_KEYS_MAX);
    const [key, ...others] = fitting;
    if (key === undefined) {
      throw credentialRefused(
        'invalid_token',
        'The issuer has no key that the token can have been signed with (kid, alg).',
      );
    }
    if (others.length === 0) return key;
    // When none fits, whichever it is given, the library says so.
    return (await signerOf(token, allowed, fitting)) ?? key;
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
