/**
 * Characters that are not seen, or that turn the direction of what follows: stored text must not disguise itself. The selectors of
 * forms of emojis are none of them.
 */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex -- these are what it looks for
  /(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufff9-\ufffb]/gu;

/** Text from outside, with invisible and direction-changing characters written as in JSON: `\u202e`. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => character.split('').map(escapeOf).join(''));
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
