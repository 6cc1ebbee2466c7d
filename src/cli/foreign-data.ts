const UNREADABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The fields of a JSON object from another machine; none if it is something else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** What another machine sent must not steer the terminal. */
export function readable(text: string): string {
  return text.replace(UNREADABLE, '?');
}

/** Undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
