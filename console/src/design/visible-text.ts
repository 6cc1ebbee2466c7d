/** Characters that are not seen, or that turn the direction of what follows: stored text must not disguise itself. */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex -- these are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Text from outside, with invisible and direction-changing characters written as `\u202e`. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
