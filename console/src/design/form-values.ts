import { inexactNumberFault, isExactNumber } from './exact-number';

/** The lines of a text without empty ones; undefined without any. */
export function linesOf(text: string): string[] | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const written = lines.filter((line) => line !== '');
  return written.length === 0 ? undefined : written;
}

/** A text without space around it; undefined for an empty one, which the API takes as absent. */
export function textOf(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** A number that was written; undefined for an empty text. Throws if it would change when it is sent. */
export function numberOf(text: string): number | undefined {
  const literal = text.trim();
  if (literal === '') return undefined;
  if (!isExactNumber(literal)) throw new Error(inexactNumberFault(literal));
  return Number(literal);
}

/** What a control for local times shows, as RFC 3339 in UTC; undefined while it is empty. */
export function utcOf(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** A time as a control for local times shows it, to the minute. */
export function localTimeOf(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A body without the fields that are undefined. */
export function given<T extends object>(body: T): Given<T> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Given<T>;
}
