import { distance } from 'fastest-levenshtein';

/** Longer names are not typing mistakes, and comparing them takes long. */
const NAME_LENGTH_MAX = 64;
/** Shorter names would be similar to any other. */
const TYPED_LENGTH_MIN = 4;
const TYPING_MISTAKES_MAX = 2;
/** Names with the same meaning in different bodies. */
const SAME_MEANING: ReadonlyMap<string, string> = new Map([
  ['attributes', 'properties'],
  ['properties', 'attributes'],
]);

/**
 * Which of the known names was probably meant: the same in another spelling (`externalEventId`), another word for it, one with up
 * to two typing mistakes, its end (`eventId`, `eventType`) or its beginning (`device`). Undefined when none is close.
 */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined;
  const names = [...known];
  const plain = plainly(name);
  const isClose = (each: string): boolean =>
    plain.length >= TYPED_LENGTH_MIN && distance(plain, plainly(each)) <= TYPING_MISTAKES_MAX;
  return (
    names.find((each) => plainly(each) === plain) ??
    names.find((each) => each === SAME_MEANING.get(name)) ??
    names.find(isClose) ??
    names.find((each) => plain.length > 1 && plainly(each).endsWith(plain)) ??
    names.find((each) => each.length > 1 && plain.endsWith(plainly(each))) ??
    names.find((each) => plain.length >= TYPED_LENGTH_MIN && plainly(each).startsWith(plain))
  );
}

function plainly(name: string): string {
  return name.replace(/[_.\s-]/g, '').toLowerCase();
}
