import { Injectable } from '@nestjs/common';
import { CustomerReader } from '../identity/customer-reader';
import type { Identifier } from '../identity/domain/identifier';
import { tracesOf } from '../identity/domain/traces';
import { Timeline } from '../ingest/timeline';
import { PersonalData, type Person } from '../platform/personal-data/personal-data';

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

  /** Whether somebody is known by this identifier as the subject of tokens, and nobody by events. */
  async isParticipantOnly(tenantId: string, identifier: Identifier): Promise<boolean> {
    const { kind, value } = identifier;
    if (kind !== 'EXTERNAL' || (await this.customers.findByIdentifier(tenantId, identifier)) !== null) return false;
    return this.data.knowsSubject(tenantId, value);
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
