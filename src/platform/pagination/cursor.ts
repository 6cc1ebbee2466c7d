import { isStorable } from '../values/text/text-rules';

/** Characters. Far beyond what two keys of a page need; a longer text is not ours and is not worth decoding. */
export const CURSOR_CHARACTERS_MAX = 512;

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Packs the sort key of a page's last row into the opaque `?cursor=` of the next page (contract section 1). Equal
 * parts give equal text. It is neither encrypted nor signed; see `decodeCursor` for what callers must check.
 *
 * Throws a RangeError when the text would have more than 512 characters, which no list's sort key may reach.
 */
export function encodeCursor(parts: readonly string[]): string {
  const text = Buffer.from(JSON.stringify(parts), 'utf8').toString('base64url');
  if (text.length > CURSOR_CHARACTERS_MAX) {
    throw new RangeError(
      `A cursor of ${text.length} characters is over the ${CURSOR_CHARACTERS_MAX} that are read back`,
    );
  }
  return text;
}

/**
 * The `length` parts that `encodeCursor` packed, or undefined for any text that it cannot have made; never throws.
 *
 * A client can forge parts, so the caller still checks each one's form (a UUID, a time) before it reaches SQL. Parts
 * that PostgreSQL refuses as text, with U+0000 or a lone surrogate, are refused here already.
 */
export function decodeCursor(text: string, length: number): readonly string[] | undefined {
  if (text.length > CURSOR_CHARACTERS_MAX || !BASE64URL.test(text)) return undefined;
  const parts = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
  if (!Array.isArray(parts) || parts.length !== length || !parts.every(isStorableText)) return undefined;
  // One cursor, one spelling: text with spare bits, white space or escapes of its own was not made by us.
  return encodesTo(parts, text) ? parts : undefined;
}

function isStorableText(part: unknown): part is string {
  return typeof part === 'string' && isStorable(part);
}

function encodesTo(parts: readonly string[], text: string): boolean {
  return Buffer.from(JSON.stringify(parts), 'utf8').toString('base64url') === text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
