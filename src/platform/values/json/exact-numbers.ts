import { randomBytes } from 'node:crypto';
import { jsonTextOf } from './json-text-of';
import { isKept, replaceNumbers } from './parse-exactly';

/**
 * Lets the value of a JSON text be worked on, and written again with each number as it came: those that a double does not
 * keep are texts meanwhile. The mark that these begin with has letters only, so that none looks like a phone number.
 */
export class ExactNumbers {
  private readonly mark = randomBytes(8)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
  private readonly literals: string[] = [];

  /** The text with a text in the place of each number that a double does not keep. */
  withMarks(text: string): string {
    const marked = replaceNumbers(text, (literal) =>
      isKept(literal) && Number.isFinite(Number(literal)) ? undefined : `"${this.markOf(literal)}"`,
    );
    return this.literals.length === 0 ? marked : marked.replaceAll(`-"${this.mark}`, `"${this.mark}-`);
  }

  /** The JSON text of a value, with the numbers in the places of their marks. */
  textOf(value: unknown): string {
    return jsonTextOf(value).replace(
      new RegExp(`"${this.mark}(-?)(\\d+)"`, 'g'),
      (_mark, sign: string, index: string) => `${sign}${this.literals[Number(index)] ?? ''}`,
    );
  }

  private markOf(literal: string): string {
    return `${this.mark}${this.literals.push(literal) - 1}`;
  }
}
