import { Injectable } from '@nestjs/common';
import type { Identifier } from './domain/identifier';
import { identifiersIn } from './domain/named-identifiers';
import { ErasedIdentifiers } from './erased-identifiers';
import { IdentityService } from './identity.service';

/** Identities of one query: their numbers are parsed and their hashes made without a pause, some milliseconds. */
const IDENTITIES_PER_QUERY = 100;

/** Finds out about identities that are not stored, such as those of refused events, whether they name erased persons. */
@Injectable()
export class ErasedPersons {
  constructor(
    private readonly erased: ErasedIdentifiers,
    private readonly identity: IdentityService,
  ) {}

  /** For each of the identities, as clients wrote them, whether it names a person who is erased, or is being erased. */
  async areNamedIn(tenantId: string, identities: readonly unknown[]): Promise<readonly boolean[]> {
    if (identities.length === 0 || !(await this.erased.hasAnyIn(tenantId))) return identities.map(() => false);
    const named: boolean[] = [];
    for (let from = 0; from < identities.length; from += IDENTITIES_PER_QUERY) {
      const some = identities.slice(from, from + IDENTITIES_PER_QUERY);
      named.push(...(await this.areNamed(tenantId, some)));
    }
    return named;
  }

  private async areNamed(tenantId: string, identities: readonly unknown[]): Promise<boolean[]> {
    const identifiers = identities.map((identity) => identifiersIn(identity, this.identity.rules));
    const erased = new Set<Identifier>(await this.erased.ofErasedPersons(tenantId, identifiers.flat()));
    return identifiers.map((ofOne) => ofOne.some((identifier) => erased.has(identifier)));
  }
}
