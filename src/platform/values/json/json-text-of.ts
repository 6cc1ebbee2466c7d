/** JSON.stringify without recursion: a hostile body may be nested 20,000 deep, and it is kept and handed out all the same. */
export function jsonTextOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return deepJsonTextOf(value);
  }
}

/** A piece of text that is ready, or a value that is still to be written. */
type Pending = { readonly text: string } | { readonly value: unknown };

function deepJsonTextOf(root: unknown): string {
  const written: string[] = [];
  const pending: Pending[] = [{ value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) written.push(next.text);
    else if (!isContainer(next.value)) written.push(JSON.stringify(next.value ?? null));
    else pending.push(...piecesOf(next.value).reverse());
  }
  return written.join('');
}

/** Anything else, such as a date, is written by JSON.stringify. */
function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value && typeof value.toJSON === 'function');
}

function piecesOf(container: object): Pending[] {
  const isList = Array.isArray(container);
  const present = Object.entries(container).filter(([, value]) => isList || value !== undefined);
  const members = present.flatMap(([key, value]: [string, unknown], index): Pending[] => {
    const comma = index === 0 ? '' : ',';
    return [{ text: isList ? comma : `${comma}${JSON.stringify(key)}:` }, { value }];
  });
  return [{ text: isList ? '[' : '{' }, ...members, { text: isList ? ']' : '}' }];
}
