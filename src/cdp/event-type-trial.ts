import { Injectable } from '@nestjs/common';
import { EventSample } from '../ingest/event-sample';
import type { Fault } from '../platform/errors/fault';
import { RefusalSample } from '../review/refusal-sample';
import { CdpContract } from './cdp-contract';
import { compareDefinitions, type Comparison } from './domain/contract-compatibility';
import { compileContract, type EventTypeDefinition } from './domain/event-contract';
import { newestOf, SampleTally, type Sample } from './domain/event-type-sample';
import type { Contract } from './event-type-contracts';
import { EventTypeRepository } from './event-type.repository';

export interface Trial {
  readonly outcome: 'new' | Comparison['outcome'];
  readonly breaks: readonly Fault[];
  readonly sample: Sample;
}

const FAMILY = 'cdp';
/** Stored and refused events together (contract section 4). */
const EVENTS_MAX = 1_000;
/** Events in memory at a time; between two lots the node does other work. */
const LOT_EVENTS = 25;

interface Candidate {
  readonly at: number;
  readonly id: string;
  readonly isStored: boolean;
}

/** Tells what registering a definition would do (contract section 4); writes nothing. */
@Injectable()
export class EventTypeTrial {
  constructor(
    private readonly types: EventTypeRepository,
    private readonly events: EventSample,
    private readonly refusals: RefusalSample,
    private readonly contract: CdpContract,
  ) {}

  async run(tenantId: string, definition: EventTypeDefinition): Promise<Trial> {
    const latest = await this.types.latest(tenantId, definition.eventType);
    const comparison: Pick<Trial, 'outcome' | 'breaks'> =
      latest === null ? { outcome: 'new', breaks: [] } : compareDefinitions(latest.definition, definition);
    return { ...comparison, sample: await this.sample(tenantId, definition, (latest?.version ?? 0) + 1) };
  }

  private async sample(tenantId: string, definition: EventTypeDefinition, version: number): Promise<Sample> {
    const contract: Contract = { version, isDeprecated: false, check: compileContract(definition) };
    const candidates = await this.candidates(tenantId, definition.eventType);
    const tally = new SampleTally();
    for (let start = 0; start < candidates.length; start += LOT_EVENTS) {
      const lot = candidates.slice(start, start + LOT_EVENTS);
      for (const faults of await this.faultsOf(tenantId, lot, contract)) tally.add(faults);
    }
    return tally.result();
  }

  private async candidates(tenantId: string, eventType: string): Promise<Candidate[]> {
    const [stored, refused] = await Promise.all([
      this.events.newest(tenantId, FAMILY, eventType, EVENTS_MAX),
      this.refusals.newest(tenantId, FAMILY, eventType, EVENTS_MAX),
    ]);
    return newestOf<Candidate>(
      stored.map(({ eventId: id, receivedAt }) => ({ id, at: receivedAt.getTime(), isStored: true })),
      refused.map(({ id, refusedAt }) => ({ id, at: refusedAt.getTime(), isStored: false })),
      EVENTS_MAX,
    );
  }

  /** Of a stored event everything but its properties is right; of a refused one everything may be wrong. */
  private async faultsOf(
    tenantId: string,
    lot: readonly Candidate[],
    contract: Contract,
  ): Promise<(readonly Fault[])[]> {
    const idsOf = (isStored: boolean): string[] => lot.filter((each) => each.isStored === isStored).map(({ id }) => id);
    const [properties, payloads] = await Promise.all([
      this.events.propertiesOf(tenantId, idsOf(true)),
      this.refusals.payloadsOf(tenantId, idsOf(false)),
    ]);
    const faultsOfPayload = (value: unknown): readonly Fault[] => {
      const { checked } = this.contract.checkBy(contract, { value, bytes: 0, text: () => '' });
      return 'refusal' in checked ? checked.refusal.details : [];
    };
    return [...properties.map(contract.check), ...payloads.map(faultsOfPayload)];
  }
}
