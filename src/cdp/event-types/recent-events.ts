import { Injectable } from '@nestjs/common';
import { EventSample } from '../../ingest/log/event-sample';
import { RefusalSample } from '../../review/refusal-sample';
import { newestOf } from './domain/event-type-sample';

const FAMILY = 'cdp';
/** Limits the memory: eight refused events have at most two megabytes. */
const EVENTS_PER_READ = 8;

/** Which events are read, and how many of both kinds together. */
export interface RecentEventsQuery {
  readonly eventType: string;
  readonly max: number;
  readonly withStored: boolean;
  readonly withRefused: boolean;
}

/** Some events as JSON text, in any order: the properties of stored ones, the whole payloads of refused ones. */
export interface EventTexts {
  readonly stored: readonly string[];
  readonly refused: readonly string[];
}

interface Candidate {
  readonly at: number;
  readonly id: string;
  readonly isStored: boolean;
}

/** Reads the newest stored and refused events of a type, unmasked. */
@Injectable()
export class RecentEvents {
  constructor(
    private readonly events: EventSample,
    private readonly refusals: RefusalSample,
  ) {}

  /** A few at a time. */
  async *read(tenantId: string, query: RecentEventsQuery): AsyncIterable<EventTexts> {
    const candidates = await this.candidates(tenantId, query);
    for (let start = 0; start < candidates.length; start += EVENTS_PER_READ) {
      const some = candidates.slice(start, start + EVENTS_PER_READ);
      const idsOf = (isStored: boolean): string[] =>
        some.filter((each) => each.isStored === isStored).map(({ id }) => id);
      // Sequential: a read uses one connection at a time.
      const stored = await this.events.propertiesOf(tenantId, idsOf(true));
      yield { stored, refused: await this.refusals.payloadsOf(tenantId, idsOf(false)) };
    }
  }

  private async candidates(tenantId: string, query: RecentEventsQuery): Promise<Candidate[]> {
    const { eventType, max, withStored, withRefused } = query;
    const stored = withStored ? await this.events.newest(tenantId, FAMILY, eventType, max) : [];
    const refused = withRefused ? await this.refusals.newest(tenantId, FAMILY, eventType, max) : [];
    return newestOf<Candidate>(
      stored.map(({ eventId: id, receivedAt }) => ({ id, at: receivedAt.getTime(), isStored: true })),
      refused.map(({ id, refusedAt }) => ({ id, at: refusedAt.getTime(), isStored: false })),
      max,
    );
  }
}
