/** Differences up to this are those of the network and of whole seconds. */
const OFFSET_MS_MIN = 5_000;

let offsetMs = 0;

/** Learns the time of the service from an answer: the clock of a viewer's machine may be wrong by hours. */
export function noteServiceTime({ headers }: Response): void {
  const at = Date.parse(headers.get('date') ?? '');
  const ahead = at - Date.now();
  if (!Number.isNaN(at)) offsetMs = Math.abs(ahead) < OFFSET_MS_MIN ? 0 : ahead;
}

/** Milliseconds since 1970 by the clock of the service. */
export function serviceTime(): number {
  return Date.now() + offsetMs;
}
