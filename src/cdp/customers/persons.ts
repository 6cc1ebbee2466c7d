import { Injectable } from '@nestjs/common';
import { CustomerReader } from '../../identity/customer-reader';
import type { Identifier } from '../../identity/domain/identifier';
import type { Customer } from '../../identity/domain/known-identities';
import { tracesOf } from '../../identity/domain/traces';
import { Timeline } from '../../ingest/log/timeline';
import { PersonalData, type Person } from '../../platform/privacy/personal-data';
import { unknownIdentifier } from './profiles.service';

export interface KnownPerson {
  readonly profileIds: readonly string[];
  readonly identifiers: readonly Identifier[];
}

/** Finds persons, and describes them to the features that store personal data. */
@Injectable()
export class Persons {
  constructor(
    private readonly timeline: Timeline,
    private readonly customers: CustomerReader,
    private readonly data: PersonalData,
  ) {}

  /**
   * The person with an identifier: a customer, or `participant` for a token subject without events. Throws `not_found`,
   * also for a customer who is being erased.
   */
  async findBy(tenantId: string, identifier: Identifier): Promise<Customer | 'participant'> {
    const profileId = await this.profileOf(tenantId, identifier);
    if (profileId === undefined) return 'participant';
    const customer = await this.customers.findById(tenantId, profileId);
    if (customer === null) throw unknownIdentifier();
    return customer;
  }

  /**
   * The profile that owns an identifier, also of a customer who is being erased. Undefined for a token subject without
   * events. Throws `not_found`.
   */
  async profileOf(tenantId: string, identifier: Identifier): Promise<string | undefined> {
    const profileId = await this.customers.ownerOf(tenantId, identifier);
    if (profileId !== undefined) return profileId;
    const { kind, value } = identifier;
    if (kind === 'EXTERNAL' && (await this.data.knowsSubject(tenantId, value))) return undefined;
    throw unknownIdentifier();
  }

  of(tenantId: string, { profileIds, identifiers }: KnownPerson): Person {
    return {
      tenantId,
      profileIds,
      subject: identifiers.find(({ kind }) => kind === 'EXTERNAL')?.value ?? null,
      identifiers,
      traces: tracesOf(identifiers),
      ownEvents: (manager, eventIds) => this.timeline.own(manager, tenantId, profileIds, eventIds),
    };
  }
}
