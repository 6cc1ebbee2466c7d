export interface Sized {
  readonly id: string;
  readonly bytes: number;
}

/** Cuts a list so that what is loaded at a time stays small; an entry that is larger stands alone. */
export function slicesBySize(sizes: readonly Sized[], bytesMax: number): string[][] {
  const slices: string[][] = [];
  let bytes = Infinity;
  for (const { id, bytes: more } of sizes) {
    bytes += more;
    const slice = slices.at(-1);
    if (slice !== undefined && bytes <= bytesMax) slice.push(id);
    else {
      slices.push([id]);
      bytes = more;
    }
  }
  return slices;
}
