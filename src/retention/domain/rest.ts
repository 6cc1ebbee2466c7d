const DAY_SECONDS = 24 * 60 * 60;
/** Ingest then keeps over nine tenths of its rate (docs/adr/0060). */
const RESTS_PER_STEP = 12;

/**
 * How long the removal of old events rests after a step while events arrive, in the unit of `worked`: twelve times as long as the
 * step took, and half of that for each day behind the first one that it is behind. So it gives way to ingest as long as it can,
 * and ends at the pace at which events arrive.
 */
export function restAfter(worked: number, secondsBehind: number): number {
  const daysLate = Math.max(0, secondsBehind / DAY_SECONDS - 1);
  return worked * RESTS_PER_STEP * 2 ** -daysLate;
}
