import type { Fault } from '../../platform/errors/fault';
import {
  fieldPath,
  itemPath,
  requiredFault,
  tooFewItemsFault,
  tooManyItemsFault,
  typeFault,
} from '../../platform/errors/fault-words';
import { isAbsent, isObject } from '../../platform/values/json/json-values';
import { readKey } from './public-keys';

/** A JWK Set as it is stored and shown, with public members only. */
export interface PublicJwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Two are enough for a rotation. */
export const INLINE_KEYS_MAX = 20;

/**
 * Reads a JWK Set from a request, or returns all its faults. Every key in it has to be usable, unlike in a fetched set
 * (contract section 2). `path` is the path of the field.
 */
export function readInlineJwks(
  path: string,
  jwks: unknown,
): { readonly jwks: PublicJwks } | { readonly faults: readonly Fault[] } {
  if (!isObject(jwks)) return { faults: [typeFault(path, 'an object')] };
  const keysPath = fieldPath(path, 'keys');
  const entries = jwks['keys'];
  if (isAbsent(entries)) return { faults: [requiredFault(keysPath)] };
  if (!Array.isArray(entries)) return { faults: [typeFault(keysPath, 'a list')] };
  if (entries.length === 0) return { faults: [tooFewItemsFault(keysPath, 1)] };
  if (entries.length > INLINE_KEYS_MAX) return { faults: [tooManyItemsFault(keysPath, INLINE_KEYS_MAX)] };

  const faults: Fault[] = [];
  const keys: PublicJwks['keys'][number][] = [];
  const kids = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const keyPath = itemPath(keysPath, index);
    const reading = readKey(keyPath, entry);
    if ('faults' in reading) {
      faults.push(...reading.faults);
      continue;
    }
    const { kid, alg, key } = reading.key;
    if (kid !== undefined && kids.has(kid)) faults.push(duplicateFault(fieldPath(keyPath, 'kid')));
    if (kid !== undefined) kids.add(kid);
    keys.push({
      ...key.export({ format: 'jwk' }),
      ...(kid === undefined ? {} : { kid }),
      ...(alg === undefined ? {} : { alg }),
    });
  }
  return faults.length > 0 ? { faults } : { jwks: { keys } };
}

function duplicateFault(path: string): Fault {
  return { path, code: 'duplicate', message: `${path} is that of another key, too; give each key one of its own.` };
}
