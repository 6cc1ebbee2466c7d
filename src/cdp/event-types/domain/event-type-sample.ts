import type { Fault } from '../../../platform/errors/fault';
import type { FaultCode } from '../../../platform/errors/fault-codes';
import { maskContacts } from '../../../platform/privacy/contact-data';

/** How many events have this fault; each event counts once. */
export interface SampleReason {
  readonly code: FaultCode;
  readonly path: string;
  readonly count: number;
}

export interface SampleCheck {
  readonly checked: number;
  readonly pass: number;
  readonly fail: number;
  /** The most frequent first, at most 100. */
  readonly reasons: readonly SampleReason[];
}

const REASONS_MAX = 100;

/** Of two lists, each newest first, the newest `limit` of both together. */
export function newestOf<Entry extends { readonly at: number }>(
  some: readonly Entry[],
  others: readonly Entry[],
  limit: number,
): Entry[] {
  return [...some, ...others].sort((a, b) => b.at - a.at).slice(0, limit);
}

/** Counts what is wrong with events, and keeps nothing of what they say: codes, names and numbers. */
export class SampleTally {
  private checked = 0;
  private fail = 0;
  private readonly reasons = new Map<string, SampleReason>();

  /** `faults`: those of one event; none: it would pass. */
  add(faults: readonly Fault[]): void {
    this.checked += 1;
    if (faults.length > 0) this.fail += 1;
    const own = new Map<string, SampleReason>();
    for (const { code, path: sent } of faults) {
      // That there are more than could be listed is no reason of its own.
      if (code === 'too_many_faults') continue;
      const path = maskContacts(sent);
      own.set(`${code} ${path}`, { code, path, count: 1 });
    }
    for (const [key, reason] of own) {
      this.reasons.set(key, { ...reason, count: (this.reasons.get(key)?.count ?? 0) + 1 });
    }
  }

  result(): SampleCheck {
    const { checked, fail } = this;
    const reasons = [...this.reasons.values()]
      .sort((a, b) => b.count - a.count || (a.path + a.code < b.path + b.code ? -1 : 1))
      .slice(0, REASONS_MAX);
    return { checked, pass: checked - fail, fail, reasons };
  }
}
