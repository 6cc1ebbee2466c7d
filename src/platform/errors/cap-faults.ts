import type { Fault } from './fault';
import { tooManyFaultsFault } from './fault-words';

/** The first `faultsMax` faults, and if there were more, a last one that says so: a longer answer helps only who fills lines. */
export function capFaults(faults: readonly Fault[], faultsMax: number): readonly Fault[] {
  return faults.length <= faultsMax ? faults : [...faults.slice(0, faultsMax), tooManyFaultsFault(faultsMax)];
}
