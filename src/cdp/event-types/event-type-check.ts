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
import { compareDefinitions } from './domain/contract-compatibility';
import { compileContract } from './domain/event-contract';
import { personalPropertiesOf, type EventTypeDefinition } from './domain/event-type-definition';
import {
  leftOutOf,
  newestOf,
  SampleTally,
  withoutPersonalProperties,
  type EventTypeCheckResult,
  type SampleCheck,
} from './domain/event-type-sample';
import type { Contract } from './event-type-contracts';
import { EventTypeRepository } from './event-type.repository';

const FAMILY = 'cdp';
/** Stored and refused events together (contract section 4). */
const EVENTS_MAX = 1_000;
/** Limits the memory: eight refused events have at most two megabytes. */
const EVENTS_PER_READ = 8;

interface Candidate {
  readonly at: number;
  readonly id: string;
  readonly isStored: boolean;
}

/** Shows what registering a definition would do (contract section 4). Writes nothing. */
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
    // Compiling the largest definition blocks the event loop for 30 ms.
    await slice.pause();
    const contract: Contract = { version, isDeprecated: false, check: compileContract(definition) };
    const registered = await this.personal.namesOf(tenantId, definition.eventType);
    const piiNames = new Set([...registered, ...personalPropertiesOf(definition)]);
    const candidates = await this.candidates(tenantId, definition.eventType);
    const tally = new SampleTally();
    for (let start = 0; start < candidates.length; start += EVENTS_PER_READ) {
      const next = candidates.slice(start, start + EVENTS_PER_READ);
      for (const faultsOfOne of await this.checksOf(tenantId, next, contract, piiNames)) {
        await slice.pause();
        tally.add(faultsOfOne());
      }
    }
    return tally.result();
  }

  private async candidates(tenantId: string, eventType: string): Promise<Candidate[]> {
    // Sequential: a read uses one connection at a time.
    const stored = await this.events.newest(tenantId, FAMILY, eventType, EVENTS_MAX);
    const refused = await this.refusals.newest(tenantId, FAMILY, eventType, EVENTS_MAX);
    return newestOf<Candidate>(
      stored.map(({ eventId: id, receivedAt }) => ({ id, at: receivedAt.getTime(), isStored: true })),
      refused.map(({ id, refusedAt }) => ({ id, at: refusedAt.getTime(), isStored: false })),
      EVENTS_MAX,
    );
  }

  /**
   * One function for each event, in any order, that parses and checks the event. Of a stored event only the properties
   * need a check; a refused event is checked whole. Properties that views mask are skipped (docs/adr/0022): callers
   * choose the definition, so every answer about such a property would disclose something of its value.
   */
  private async checksOf(
    tenantId: string,
    candidates: readonly Candidate[],
    contract: Contract,
    piiNames: ReadonlySet<string>,
  ): Promise<(() => readonly Fault[])[]> {
    const idsOf = (isStored: boolean): string[] =>
      candidates.filter((each) => each.isStored === isStored).map(({ id }) => id);
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
