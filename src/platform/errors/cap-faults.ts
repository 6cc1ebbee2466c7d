import type { Fault } from './fault';
import { tooManyFaultsFault } from './fault-words';

/** How many faults one answer lists (contract section 3); such an answer has some 100 KiB. */
export const FAULTS_MAX = 1_000;

const MORE = Symbol('faults that are not listed');

/** The last fault of a cut list, with the number of faults that it stands for. The number is not serialised. */
interface MoreFaults extends Fault {
  readonly [MORE]: number;
}

/**
 * The first `faultsMax` faults, and if there were more, a last one that says how many. `uncollected`: faults that were only
 * counted. `faults` may contain lists that were cut before.
 */
export function capFaults(faults: readonly Fault[], faultsMax: number, uncollected = 0): readonly Fault[] {
  const more = unlistedIn(faults) + uncollected;
  if (more === 0 && faults.length <= faultsMax) return faults;
  const listed = withoutCount(faults);
  const all = more + Math.max(0, listed.length - faultsMax);
  const last: MoreFaults = { ...tooManyFaultsFault(all), [MORE]: all };
  return [...listed.slice(0, faultsMax), last];
}

/** At most `entriesMax` entries, including the one with the count. Without the count when fewer than two entries fit. */
export function fitFaults(faults: readonly Fault[], entriesMax: number): readonly Fault[] {
  if (faults.length <= entriesMax) return faults;
  return entriesMax < 2 ? withoutCount(faults).slice(0, entriesMax) : capFaults(faults, entriesMax - 1);
}

/** The number of faults that a list stands for. */
export function countFaults(faults: readonly Fault[]): number {
  return withoutCount(faults).length + unlistedIn(faults);
}

/** The faults without the last one that counts the others. */
export function withoutCount(faults: readonly Fault[]): readonly Fault[] {
  return faults.some(isCount) ? faults.filter((fault) => !isCount(fault)) : faults;
}

function unlistedIn(faults: readonly Fault[]): number {
  return faults.reduce((sum, fault) => sum + (isCount(fault) ? fault[MORE] : 0), 0);
}

function isCount(fault: Fault): fault is MoreFaults {
  return MORE in fault;
}
