export interface Sized {
  readonly id: string;
  readonly bytes: number;
}

/** Splits a list into slices of at most `bytesMax`. An entry that is larger gets its own slice. */
export function slicesBySize(sizes: readonly Sized[], bytesMax: number): string[][] {
  const slices: string[][] = [];
  let bytes = Infinity;
  for (const { id, bytes: size } of sizes) {
    bytes += size;
    const slice = slices.at(-1);
    if (slice !== undefined && bytes <= bytesMax) slice.push(id);
    else {
      slices.push([id]);
      bytes = size;
    }
  }
  return slices;
}
