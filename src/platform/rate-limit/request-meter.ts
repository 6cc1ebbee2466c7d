import type { IncomingMessage } from 'node:http';

/**
 * Bytes of a body, inflated, that cost as much as one event or request. An honest event is smaller; reading, parsing and
 * refusing 16 KiB costs the service about what storing an event does.
 */
export const BYTES_PER_UNIT = 16 * 1024;

interface Meter {
  spent: number;
  readonly spend: (units: number) => void;
}

const meters = Symbol('rate limit meters');

interface Metered extends IncomingMessage {
  [meters]?: Meter[];
}

/** Has a request counted that was let in for one unit; `spend` is called for each further number of units. */
export function meterRequest(request: IncomingMessage, spend: (units: number) => void): void {
  const metered: Metered = request;
  metered[meters] = [...(metered[meters] ?? []), { spent: 1, spend }];
}

/** Charges a request up to so many units in all, by each limit that it is held to: it pays for its events or its bytes, whichever are more. */
export function chargeUnits(request: IncomingMessage, units: number): void {
  for (const meter of (request as Metered)[meters] ?? []) {
    if (units <= meter.spent) continue;
    meter.spend(units - meter.spent);
    meter.spent = units;
  }
}

/** Charges a request for the bytes of its body; also for one that is refused afterwards. */
export function chargeBytes(request: IncomingMessage, bytes: number): void {
  chargeUnits(request, Math.ceil(bytes / BYTES_PER_UNIT));
}
