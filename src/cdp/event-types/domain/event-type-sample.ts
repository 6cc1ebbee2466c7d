import type { Comparison } from './contract-compatibility';
import type { Fault } from '../../../platform/errors/fault';
import type { FaultCode } from '../../../platform/errors/fault-codes';
import { maskContacts } from '../../../platform/privacy/contact-data';
import { hasPersonalName, withoutPersonalSteps } from '../../../platform/privacy/mask';
import { isObject } from '../../../platform/values/json/json-values';
import type { Steps } from '../../../platform/values/time-slice';

/** How many events have this fault; each event counts once. */
export interface SampleReason {
  readonly code: FaultCode;
  readonly path: string;
  readonly count: number;
}

/** What registering a definition would do. */
export interface EventTypeCheckResult {
  readonly outcome: 'new' | Comparison['outcome'];
  readonly breaks: readonly Fault[];
  /** Only for callers with the scope `events:read`. */
  readonly sample?: SampleCheck;
}

export interface SampleCheck {
  readonly checked: number;
  readonly pass: number;
  readonly fail: number;
  /** The most frequent first, at most 100. */
  readonly reasons: readonly SampleReason[];
}

const REASONS_MAX = 100;

/** Merges two lists and returns the newest `limit` entries, newest first. */
export function newestOf<Entry extends { readonly at: number }>(
  some: readonly Entry[],
  others: readonly Entry[],
  limit: number,
): Entry[] {
  return [...some, ...others].sort((a, b) => b.at - a.at).slice(0, limit);
}

/** Counts the faults of sampled events. It keeps codes, paths and counts, and no values. */
export class SampleTally {
  private checked = 0;
  private fail = 0;
  private readonly reasons = new Map<string, SampleReason>();

  /** Adds one event with its faults; an event without faults passes. */
  add(faults: readonly Fault[]): void {
    this.checked += 1;
    if (faults.length > 0) this.fail += 1;
    const own = new Map<string, SampleReason>();
    for (const { code, path: sentPath } of faults) {
      // `too_many_faults` ends a list that was cut; it is no fault of the event.
      if (code === 'too_many_faults') continue;
      const path = maskContacts(sentPath);
      own.set(`${code} ${path}`, { code, path, count: 1 });
    }
    for (const [key, reason] of own) {
      this.reasons.set(key, { ...reason, count: (this.reasons.get(key)?.count ?? 0) + 1 });
    }
  }

  result(): SampleCheck {
    const { checked, fail } = this;
    const reasons = this.mostFrequent().sort(
      (a, b) => b.count - a.count || (a.path + a.code < b.path + b.code ? -1 : 1),
    );
    return { checked, pass: checked - fail, fail, reasons };
  }

  /** Events may have a hundred thousand reasons together, which would take a quarter of a second to sort. */
  private mostFrequent(): SampleReason[] {
    const byCount = Array.from({ length: this.checked + 1 }, (): SampleReason[] => []);
    for (const reason of this.reasons.values()) byCount[reason.count]?.push(reason);
    return byCount.reverse().flat().slice(0, REASONS_MAX);
  }
}

/** Whether a check must skip a property: its value is personal, and even "it fits" would disclose something. */
export type IsLeftOut = (name: string) => boolean;

/** What of one event a check may look at. */
export interface ShownPart {
  readonly value: unknown;
  readonly isLeftOut: IsLeftOut;
}

/**
 * The properties of one event without those that views mask, by name or by value. A personal name counts even if it is absent.
 * In steps: texts may have hundreds of kilobytes.
 */
export function* shownProperties(properties: unknown, piiNames: ReadonlySet<string>): Steps<ShownPart> {
  const value = yield* withoutPersonalSteps(properties, piiNames);
  const isHidden = (name: string): boolean =>
    isObject(properties) && Object.hasOwn(properties, name) && !(isObject(value) && Object.hasOwn(value, name));
  return { value, isLeftOut: (name) => isHidden(name) || hasPersonalName(name, piiNames) };
}

/** Removes from a refused event the properties that views mask. */
export function* withoutPersonalProperties(payload: unknown, piiNames: ReadonlySet<string>): Steps<ShownPart> {
  if (!isObject(payload) || !Object.hasOwn(payload, 'properties')) {
    return { value: payload, isLeftOut: (name) => hasPersonalName(name, piiNames) };
  }
  const { value, isLeftOut } = yield* shownProperties(payload['properties'], piiNames);
  return { value: { ...payload, properties: value }, isLeftOut };
}
