import type { EventFamily } from '../../ingest/domain/submission';
import { OTHER_NAME } from './group-names';

/** Events that were answered alike. */
export interface CountedOutcomes {
  readonly tenantId: string;
  readonly family: EventFamily;
  readonly source: string;
  readonly eventType: string;
  duplicate: number;
  refused: number;
}

export interface GroupLimits {
  /** Groups of family, source and type that a workspace adds in a minute. */
  readonly perWorkspaceMax: number;
  /** The same of all workspaces together; a group takes some 500 bytes. */
  readonly totalMax: number;
}

/** A workspace with more has given each event a source of its own. An answer shows 200 groups. */
export const GROUP_LIMITS: GroupLimits = { perWorkspaceMax: 500, totalMax: 5_000 };

const MINUTE_MS = 60_000;

/**
 * Counts duplicates and refusals in memory until they are taken. Sources and types of refused events are any text, so the
 * groups of a minute are limited: the events of further ones count as `OTHER_NAME`. While nobody takes the counts, no groups
 * are added beyond those of one minute, so memory is bounded by the limits and the number of workspaces.
 */
export class OutcomeCounts {
  private counts = new Map<string, CountedOutcomes>();
  /** The groups of this minute, by workspace. */
  private readonly groups = new Map<string, Set<string>>();
  private groupsTotal = 0;
  private minute = 0;

  constructor(private readonly limits: GroupLimits = GROUP_LIMITS) {}

  add(
    tenantId: string,
    family: EventFamily,
    names: { readonly source: string; readonly eventType: string },
    outcome: 'duplicate' | 'refused',
  ): void {
    const group = `${family}\u0000${names.source}\u0000${names.eventType}`;
    const isApart = this.isApart(tenantId, group);
    const key = `${tenantId}\u0000${isApart ? group : family}`;
    let counted = this.counts.get(key);
    if (counted === undefined) {
      const { source, eventType } = isApart ? names : { source: OTHER_NAME, eventType: OTHER_NAME };
      counted = { tenantId, family, source, eventType, duplicate: 0, refused: 0 };
      this.counts.set(key, counted);
    }
    counted[outcome] += 1;
  }

  /** Takes what was counted since the last call. `now`: epoch milliseconds. */
  take(now: number): CountedOutcomes[] {
    const taken = [...this.counts.values()];
    this.counts = new Map();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.minute) {
      this.minute = minute;
      this.groups.clear();
      this.groupsTotal = 0;
    }
    return taken;
  }

  private isApart(tenantId: string, group: string): boolean {
    let groups = this.groups.get(tenantId);
    if (groups?.has(group) === true) return true;
    if ((groups?.size ?? 0) >= this.limits.perWorkspaceMax || this.groupsTotal >= this.limits.totalMax) return false;
    if (groups === undefined) this.groups.set(tenantId, (groups = new Set()));
    groups.add(group);
    this.groupsTotal += 1;
    return true;
  }
}
