import type { LiveBundle, LiveEvent, LiveGroup } from './live-event';

/** Events of one workspace that one process passes on between two flushes; four flushes a second make 200 a second. */
export const EVENTS_PER_FLUSH_MAX = 50;
/** Events of one group among them: a loud source must not hide a rare refusal of another one. */
export const EVENTS_OF_GROUP_MAX = 25;
/** Groups that are counted apart between two flushes. */
export const GROUPS_MAX = 100;

interface Counted {
  readonly group: LiveGroup;
  events: number;
}

/** Collects the events of one workspace until the next flush; those beyond the limits are only counted. */
export class LiveSample {
  private events: LiveEvent[] = [];
  private ofGroup = new Map<string, number>();
  private notShown = new Map<string, Counted>();
  private ofOtherGroups = 0;

  /** `make` is called only if the event is shown. */
  add(group: LiveGroup, make: () => LiveEvent): void {
    const key = keyOf(group);
    const shown = this.ofGroup.get(key) ?? 0;
    if (this.events.length < EVENTS_PER_FLUSH_MAX && shown < EVENTS_OF_GROUP_MAX) {
      this.ofGroup.set(key, shown + 1);
      this.events.push(make());
      return;
    }
    const counted = this.notShown.get(key);
    if (counted !== undefined) counted.events += 1;
    else if (this.notShown.size < GROUPS_MAX) this.notShown.set(key, { group, events: 1 });
    else this.ofOtherGroups += 1;
  }

  /** What came since the last call; undefined if nothing did. */
  take(): LiveBundle | undefined {
    if (this.events.length === 0) return undefined;
    const others = this.ofOtherGroups === 0 ? [] : [{ group: null, events: this.ofOtherGroups }];
    const bundle = { events: this.events, notShown: [...this.notShown.values(), ...others] };
    this.events = [];
    this.ofGroup = new Map();
    this.notShown = new Map();
    this.ofOtherGroups = 0;
    return bundle;
  }
}

/** Names that are shown hold no U+0000. */
function keyOf({ family, source, eventType, result }: LiveGroup): string {
  return [family, result, source ?? '\u0000', eventType ?? '\u0000'].join('\u0000');
}
