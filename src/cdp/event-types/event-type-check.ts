import { Injectable } from '@nestjs/common';
import { EventSample } from '../../ingest/log/event-sample';
import { TimeSlice } from '../../platform/values/time-slice';
import type { Principal } from '../../platform/auth/principal';
import { grants } from '../../platform/auth/scopes';
import type { Fault } from '../../platform/errors/fault';
import { parseExactly } from '../../platform/values/json/parse-exactly';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { RefusalSample } from '../../review/refusal-sample';
import { CdpEventParser } from '../cdp-event-parser';
import { compareDefinitions, type Comparison } from './domain/contract-compatibility';
import { compileContract, type EventTypeDefinition } from './domain/event-contract';
import { newestOf, SampleTally, type SampleCheck } from './domain/event-type-sample';
import { leftOutOf, personalNames, withoutPersonalProperties } from './domain/personal-sample';
import type { Contract } from './event-type-contracts';
import { EventTypeRepository } from './event-type.repository';

export interface EventTypeCheckResult {
  readonly outcome: 'new' | Comparison['outcome'];
  readonly breaks: readonly Fault[];
  /** Only for callers who may read events. */
  readonly sample?: SampleCheck;
}

const FAMILY = 'cdp';
/** Stored and refused events together (contract section 4). */
const EVENTS_MAX = 1_000;
/** Events in memory at a time: two megabytes of refused ones at most. */
const LOT_EVENTS = 8;

interface Candidate {
  readonly at: number;
  readonly id: string;
  readonly isStored: boolean;
}

/** Tells what registering a definition would do (contract section 4); writes nothing. */
@Injectable()
export class EventTypeCheck {
  constructor(
    private readonly types: EventTypeRepository,
    private readonly events: EventSample,
    private readonly refusals: RefusalSample,
    private readonly parser: CdpEventParser,
    private readonly personal: PersonalProperties,
  ) {}

  async run({ tenantId, scopes }: Principal, definition: EventTypeDefinition): Promise<EventTypeCheckResult> {
    const latest = await this.types.latest(tenantId, definition.eventType);
    const comparison: Pick<EventTypeCheckResult, 'outcome' | 'breaks'> =
      latest === null ? { outcome: 'new', breaks: [] } : compareDefinitions(latest.definition, definition);
    if (!grants(scopes, 'events:read')) return comparison;
    return { ...comparison, sample: await this.sample(tenantId, definition, (latest?.version ?? 0) + 1) };
  }

  private async sample(tenantId: string, definition: EventTypeDefinition, version: number): Promise<SampleCheck> {
    const slice = new TimeSlice();
    // To compile the largest definition takes 30 ms in one go.
    await slice.pause();
    const contract: Contract = { version, isDeprecated: false, check: compileContract(definition) };
    const registered = await this.personal.namesOf(tenantId, definition.eventType);
    const piiNames = new Set([...registered, ...personalNames(definition)]);
    const candidates = await this.candidates(tenantId, definition.eventType);
    const tally = new SampleTally();
    for (let start = 0; start < candidates.length; start += LOT_EVENTS) {
      const lot = candidates.slice(start, start + LOT_EVENTS);
      for (const faultsOfOne of await this.checksOf(tenantId, lot, contract, piiNames)) {
        await slice.pause();
        tally.add(faultsOfOne());
      }
    }
    return tally.result();
  }

  private async candidates(tenantId: string, eventType: string): Promise<Candidate[]> {
    // One after the other: a read takes one connection at a time.
    const stored = await this.events.newest(tenantId, FAMILY, eventType, EVENTS_MAX);
    const refused = await this.refusals.newest(tenantId, FAMILY, eventType, EVENTS_MAX);
    return newestOf<Candidate>(
      stored.map(({ eventId: id, receivedAt }) => ({ id, at: receivedAt.getTime(), isStored: true })),
      refused.map(({ id, refusedAt }) => ({ id, at: refusedAt.getTime(), isStored: false })),
      EVENTS_MAX,
    );
  }

  /**
   * What tells the faults of each event of a lot, in any order, by parsing and checking its text: of a stored event everything
   * but its properties is right; of a refused one everything may be wrong. What views hide is judged in neither
   * (docs/adr/0022): the definition is the caller's, so each answer would tell something of a value.
   */
  private async checksOf(
    tenantId: string,
    lot: readonly Candidate[],
    contract: Contract,
    piiNames: ReadonlySet<string>,
  ): Promise<(() => readonly Fault[])[]> {
    const idsOf = (isStored: boolean): string[] => lot.filter((each) => each.isStored === isStored).map(({ id }) => id);
    const properties = await this.events.propertiesOf(tenantId, idsOf(true));
    const payloads = await this.refusals.payloadsOf(tenantId, idsOf(false));
    const faultsOfPayload = (payload: unknown): readonly Fault[] => {
      const { value, isLeftOut } = withoutPersonalProperties(payload, piiNames);
      const check: Contract['check'] = (shown) => contract.check(shown, isLeftOut);
      const submission = { family: FAMILY, value, bytes: 0, text: () => '' } as const;
      return this.parser.parseBy({ ...contract, check }, submission).refusal?.details ?? [];
    };
    const faultsOfStored = (stored: unknown): readonly Fault[] => contract.check(stored, leftOutOf(stored, piiNames));
    return [
      ...properties.map((text) => () => faultsOfStored(parseExactly(text))),
      ...payloads.map((text) => () => faultsOfPayload(parseExactly(text))),
    ];
  }
}
