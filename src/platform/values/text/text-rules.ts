// Unicode's White_Space, and what is as invisible: U+200B, U+2060 and U+FEFF.
const BLANK = /[\p{White_Space}\u200b\u2060\ufeff]/u;

/**
 * A name of a person without what is invisible around it: identifiers and subjects of tokens are compared like this (contract
 * section 5). In one pass from either end; a regular expression for the end would be quadratic in inner white space.
 */
export function trimBlank(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BLANK.test(text.charAt(start))) start += 1;
  while (end > start && BLANK.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Whether PostgreSQL can store the text: it takes neither U+0000 nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** Whether a text has more characters (Unicode code points) than `charactersMax`; of a text far beyond it not all are counted. */
export function hasMoreCharacters(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  // A code point takes at most two units, so beyond that nothing need be counted.
  return text.length > 2 * charactersMax || Array.from(text).length > charactersMax;
}
