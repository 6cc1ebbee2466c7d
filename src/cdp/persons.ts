import { Injectable } from '@nestjs/common';
import type { Identifier } from '../identity/domain/identifier';
import { tracesOf } from '../identity/domain/traces';
import { Timeline } from '../ingest/timeline';
import type { Person } from '../platform/personal-data/personal-data';

export interface KnownPerson {
  readonly profileIds: readonly string[];
  readonly identifiers: readonly Identifier[];
}

/** Says who somebody is to all features that keep data of persons. */
@Injectable()
export class Persons {
  constructor(private readonly timeline: Timeline) {}

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
