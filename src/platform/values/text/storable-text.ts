/** Whether PostgreSQL can store the text: it takes neither U+0000 nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}
