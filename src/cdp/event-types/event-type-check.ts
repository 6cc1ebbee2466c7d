import { Injectable } from '@nestjs/common';
import { TimeSlice, type Steps } from '../../platform/values/time-slice';
import type { Principal } from '../../platform/auth/principal';
import { grants } from '../../platform/auth/scopes';
import type { Fault } from '../../platform/errors/fault';
import { parseExactly } from '../../platform/values/json/parse-exactly';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { CdpEventParser } from '../cdp-event-parser';
import { compareDefinitions } from './domain/contract-compatibility';
import { compileContract } from './domain/event-contract';
import { personalPropertiesOf, type EventTypeDefinition } from './domain/event-type-definition';
import {
  SampleTally,
  shownProperties,
  withoutPersonalProperties,
  type EventTypeCheckResult,
  type SampleCheck,
} from './domain/event-type-sample';
import type { Contract } from './event-type-contracts';
import { EventTypeRepository } from './event-type.repository';
import { RecentEvents, type EventTexts } from './recent-events';

const FAMILY = 'cdp';
/** Stored and refused events together (contract section 4). */
const EVENTS_MAX = 1_000;

/** Shows what registering a definition would do (contract section 4). Writes nothing. */
@Injectable()
export class EventTypeCheck {
  constructor(
    private readonly types: EventTypeRepository,
    private readonly recent: RecentEvents,
    private readonly parser: CdpEventParser,
    private readonly personal: PersonalProperties,
  ) {}

  async run({ tenantId, scopes }: Principal, definition: EventTypeDefinition): Promise<EventTypeCheckResult> {
    const latest = await this.types.latest(tenantId, definition.eventType);
    const comparison: Pick<EventTypeCheckResult, 'outcome' | 'breaks'> =
      latest === null ? { outcome: 'new', breaks: [] } : compareDefinitions(latest.definition, definition);
    if (!grants(scopes, 'events:read')) return comparison;
    return { ...comparison, sample: await this.sample(tenantId, definition, latest?.version ?? 0) };
  }

  /** `version`: the current one; 0: the type is not registered. */
  private async sample(tenantId: string, definition: EventTypeDefinition, version: number): Promise<SampleCheck> {
    const slice = new TimeSlice();
    const contract: Contract = { version: version + 1, isDeprecated: false, check: compileContract(definition) };
    // Events of an unregistered type may be of another one whose name was misspelt, as in the review area.
    const registered = await this.personal.namesOf(tenantId, version === 0 ? null : definition.eventType);
    const piiNames = new Set([...registered, ...personalPropertiesOf(definition)]);
    const tally = new SampleTally();
    const query = { eventType: definition.eventType, max: EVENTS_MAX, withStored: true, withRefused: true };
    for await (const texts of this.recent.read(tenantId, query)) {
      for (const faults of this.checksOf(texts, contract, piiNames)) tally.add(await slice.run(faults));
    }
    return tally.result();
  }

  /**
   * The work for each event, in any order: it is parsed and checked. Of a stored event only the properties need a check; a
   * refused event is checked whole. Properties that views mask are skipped (docs/adr/0022): callers choose the definition, so
   * every answer about such a property would disclose something of its value.
   */
  private checksOf(
    { stored, refused }: EventTexts,
    contract: Contract,
    piiNames: ReadonlySet<string>,
  ): Steps<readonly Fault[]>[] {
    return [
      ...stored.map((text) => this.faultsOfStored(text, contract, piiNames)),
      ...refused.map((text) => this.faultsOfRefused(text, contract, piiNames)),
    ];
  }

  private *faultsOfStored(text: string, { check }: Contract, piiNames: ReadonlySet<string>): Steps<readonly Fault[]> {
    const sent = parseExactly(text);
    // Of an event that fits, nothing need be skipped.
    if (check(sent).length === 0) return [];
    const { isLeftOut } = yield* shownProperties(sent, piiNames);
    return check(sent, isLeftOut);
  }

  private *faultsOfRefused(text: string, contract: Contract, piiNames: ReadonlySet<string>): Steps<readonly Fault[]> {
    const { value, isLeftOut } = yield* withoutPersonalProperties(parseExactly(text), piiNames);
    const check: Contract['check'] = (shown) => contract.check(shown, isLeftOut);
    const submission = { family: FAMILY, value, bytes: 0, text: () => '' } as const;
    return this.parser.parseBy({ ...contract, check }, submission).refusal?.details ?? [];
  }
}
