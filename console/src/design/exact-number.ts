/** The texts of a JSON document, which may hold anything, and its numbers. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * Whether a number comes back from a double as it was written. The service refuses all others (docs/adr/0050); sent from
 * here they would have changed before.
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && decimalOf(literal) === decimalOf(String(value));
}

/** The first number of a JSON document that would change when it is sent. */
export function inexactNumberIn(json: string): string | undefined {
  for (const [token] of json.matchAll(TEXT_OR_NUMBER)) {
    if (!token.startsWith('"') && !isExactNumber(token)) return token;
  }
  return undefined;
}

/** Why a number cannot be sent. */
export function inexactNumberFault(literal: string): string {
  return `${literal} is larger or has more digits than a number can keep. Round it.`;
}

/** One text for all spellings of a number: its digits between zeros, and where its point stands. */
function decimalOf(literal: string): string {
  const [mantissa = '', power = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  // No pattern: one that looks for the zeros at the end takes minutes for a hostile number.
  while (start < end && digits.charAt(start) === '0') start += 1;
  while (end > start && digits.charAt(end - 1) === '0') end -= 1;
  return start === end ? '0' : `${digits.slice(start, end)}e${whole.length - start + Number(power)}`;
}
