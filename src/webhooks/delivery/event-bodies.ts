import type { LoggedEvent } from '../../ingest/domain/event';
import { ConcurrencyLimiter } from '../../platform/async/concurrency-limiter';
import { unavailable } from '../../platform/errors/unavailable';
import type { PersonalProperties } from '../../platform/privacy/personal-properties';
import { TimeSlice } from '../../platform/values/time-slice';
import { eventBody } from '../domain/event-body';

/**
 * Makes the bodies of calls about events. One at a time, and workspaces take turns: of all sliced work in the process, one
 * piece goes on in each turn of the event loop. Answers that are made in slices would wait for all claimed bodies each time.
 */
export class EventBodies {
  private readonly turns = new ConcurrencyLimiter({
    runningMax: () => 1,
    runningInAllMax: 1,
    // As many as there are calls.
    waitingMax: Infinity,
    refusal: unavailable,
  });
  /** Of all bodies: small ones need no turn each. */
  private readonly slice = new TimeSlice();
  /** Of an event that a claim has read, masked and not: many endpoints get it. */
  private readonly made = new WeakMap<LoggedEvent, Map<boolean, Promise<string>>>();

  constructor(private readonly personal: PersonalProperties) {}

  /** `customerId`: the customer that the event belongs to now. */
  of(tenantId: string, event: LoggedEvent, customerId: string, isMasked: boolean): Promise<string> {
    const known = this.made.get(event) ?? new Map<boolean, Promise<string>>();
    this.made.set(event, known);
    const body = known.get(isMasked) ?? this.make(tenantId, event, customerId, isMasked);
    known.set(isMasked, body);
    return body;
  }

  private async make(tenantId: string, event: LoggedEvent, customerId: string, isMasked: boolean): Promise<string> {
    const personal = isMasked ? await this.personal.namesOf(tenantId, event.eventType) : null;
    return this.turns.run(tenantId, () => this.slice.run(eventBody(event, { customerId, personal })));
  }
}
