/** Begins a character of UTF-8, or is one by itself; the others continue one. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The characters of a text that fit into so many bytes of UTF-8, in memory of their own: the rest of the text is let go. */
export function beginningOfText(
  text: string | Buffer,
  bytesMax: number,
): { readonly text: string; readonly isCut: boolean } {
  if (typeof text === 'string') {
    // No character has fewer bytes than units.
    const bytes = Buffer.from(text.slice(0, bytesMax + 1));
    if (bytes.length <= bytesMax) return { text, isCut: false };
    return { text: bytes.toString('utf8', 0, endBefore(bytes, bytesMax)), isCut: true };
  }
  if (text.length <= bytesMax) return { text: text.toString('utf8'), isCut: false };
  return { text: text.toString('utf8', 0, endBefore(text, bytesMax)), isCut: true };
}

/** Where the character begins that reaches over the limit. */
function endBefore(bytes: Buffer, bytesMax: number): number {
  let end = bytesMax;
  while (end > 0 && bytesMax - end < 4 && isContinuation(bytes[end])) end -= 1;
  return end;
}
