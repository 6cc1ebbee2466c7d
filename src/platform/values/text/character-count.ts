/** Whether a text has more characters (Unicode code points) than `charactersMax`; of a text far beyond it not all are counted. */
export function hasMoreCharacters(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  // A code point takes at most two units, so beyond that nothing need be counted.
  return text.length > 2 * charactersMax || Array.from(text).length > charactersMax;
}
