/** RFC 4180 asks for both. */
const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;
/** What spreadsheets take for the beginning of a formula, in the full width of East Asian fonts too. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

export interface CsvOptions {
  /** Text that a spreadsheet would take for a formula gets a `'` in front, so that it is shown and not worked out. */
  readonly guardsFormulas: boolean;
}

/**
 * A line of CSV (RFC 4180) with its end. Null is an empty field, empty text is `""`; numbers and booleans are as in JSON, and so are
 * lists and objects.
 */
export function csvLine(values: readonly unknown[], options: CsvOptions): string {
  return `${values.map((value) => field(value, options)).join(',')}${LINE_END}`;
}

function field(value: unknown, { guardsFormulas }: CsvOptions): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return quoted(guardsFormulas && BEGINS_FORMULA.test(value) ? `'${value}` : value);
  return quoted(JSON.stringify(value));
}

function quoted(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
