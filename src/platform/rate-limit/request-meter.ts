import type { IncomingMessage } from 'node:http';

/**
 * Inflated bytes of a body that cost as much as one event or request. Usual events are smaller. Reading, parsing and refusing
 * 16 KiB costs about as much as storing an event.
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

/** Registers a meter for an admitted request, which has spent one unit. `spend` is called with further units. */
export function meterRequest(request: IncomingMessage, spend: (units: number) => void): void {
  const metered: Metered = request;
  metered[meters] = [...(metered[meters] ?? []), { spent: 1, spend }];
}

/** Charges a request up to `units` in total by each of its limits: it pays for its events or its bytes, whichever cost more. */
export function chargeUnits(request: IncomingMessage, units: number): void {
  for (const meter of (request as Metered)[meters] ?? []) {
    if (units <= meter.spent) continue;
    meter.spend(units - meter.spent);
    meter.spent = units;
  }
}

/** Charges a request for the bytes of its body, also when it is refused afterwards. */
export function chargeBytes(request: IncomingMessage, bytes: number): void {
  chargeUnits(request, Math.ceil(bytes / BYTES_PER_UNIT));
}
