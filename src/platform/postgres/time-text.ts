/** SQL for a time as text in UTC, of one length, so that it compares as text; with microseconds, which a Date cannot hold. */
export function textOfTime(time: string): string {
  return `to_char((${time}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
