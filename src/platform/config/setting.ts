/** How one environment variable is read; `.env.example` documents the same names, and a test holds the two together. */
export interface Setting<T> {
  readonly variable: string;
  readonly description: string;
  /** Gets the text, or undefined when unset or empty; throws a `SettingFault` with words for the operator. */
  readonly parse: (text: string | undefined) => T;
}

export function setting<T>(variable: string, description: string, parse: (text: string | undefined) => T): Setting<T> {
  return { variable, description, parse };
}
