import { Injectable } from '@nestjs/common';
import { CustomerReader, type Customer } from '../../identity/customer-reader';
import type { Identifier } from '../../identity/domain/identifier';
import { tracesOf } from '../../identity/domain/traces';
import { Timeline } from '../../ingest/log/timeline';
import { PersonalData, type Person } from '../../platform/privacy/personal-data';
import { nobodyHasIdentifier } from './profiles.service';

export interface KnownPerson {
  readonly profileIds: readonly string[];
  readonly identifiers: readonly Identifier[];
}

/** Says who somebody is to all features that keep data of persons. */
@Injectable()
export class Persons {
  constructor(
    private readonly timeline: Timeline,
    private readonly customers: CustomerReader,
    private readonly data: PersonalData,
  ) {}

  /**
   * Who has an identifier: a customer, or `participant` for the subject of tokens of whom there are no events. Throws `not_found`.
   */
  async findBy(tenantId: string, identifier: Identifier): Promise<Customer | 'participant'> {
    const customer = await this.customers.findByIdentifier(tenantId, identifier);
    if (customer !== null) return customer;
    const { kind, value } = identifier;
    if (kind === 'EXTERNAL' && (await this.data.knowsSubject(tenantId, value))) return 'participant';
    throw nobodyHasIdentifier();
  }

  of(tenantId: string, { profileIds, identifiers }: KnownPerson): Person {
    return {
      tenantId,
      profileIds,
      subject: identifiers.find(({ kind }) => kind === 'EXTERNAL')?.value ?? null,
      traces: tracesOf(identifiers),
      ownEvents: (manager, eventIds) => this.timeline.own(manager, tenantId, profileIds, eventIds),
    };
  }
}
