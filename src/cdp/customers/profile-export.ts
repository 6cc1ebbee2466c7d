import { Injectable } from '@nestjs/common';
import type { Customer } from '../../identity/domain/known-identities';
import type { IdentityReference } from '../../identity/domain/identity-reference';
import { MergesService } from '../../identity/merges.service';
import { idPageStart } from '../../platform/pagination/id-key';
import { PersonalData, type PersonalRecord } from '../../platform/privacy/personal-data';
import { MergeDto } from './dto/merge.dto';
import { ProfileDto } from './dto/profile.dto';
import { Persons, type KnownPerson } from './persons';
import { ProfilesService } from './profiles.service';

const MERGES_PER_PAGE = 200;

/** Exports all data of a person, unmasked (contract section 5). */
@Injectable()
export class ProfileExport {
  constructor(
    private readonly profiles: ProfilesService,
    private readonly merges: MergesService,
    private readonly persons: Persons,
    private readonly data: PersonalData,
  ) {}

  /**
   * The profile with its identifiers, its merges, then the records of each feature. Reads them as the caller iterates.
   */
  async *records(tenantId: string, customer: Customer): AsyncIterable<PersonalRecord> {
    const view = await this.profiles.view(tenantId, customer);
    yield { record: 'profile', data: ProfileDto.of(view, { unmasked: true }) };
    for (let cursor: string | null | undefined; cursor !== null;) {
      const start = idPageStart(cursor);
      const page = await this.merges.list(tenantId, customer.profileIds, start, MERGES_PER_PAGE);
      for (const merge of page.rows) yield { record: 'merge', data: MergeDto.of(merge) };
      cursor = page.nextCursor;
    }
    yield* this.recordsOfFeatures(tenantId, customer);
  }

  /**
   * The records of the person with an identifier, and the ids of their profiles; a participant without events has none.
   * Throws `not_found`.
   */
  async ofIdentifier(
    tenantId: string,
    reference: IdentityReference,
  ): Promise<{ records: AsyncIterable<PersonalRecord>; profiles: readonly string[] }> {
    const identifier = this.profiles.identifierOf(reference);
    const found = await this.persons.findBy(tenantId, identifier);
    if (found !== 'participant') return { records: this.records(tenantId, found), profiles: found.profileIds };
    return { records: this.recordsOfFeatures(tenantId, { profileIds: [], identifiers: [identifier] }), profiles: [] };
  }

  private async *recordsOfFeatures(tenantId: string, known: KnownPerson): AsyncIterable<PersonalRecord> {
    const person = this.persons.of(tenantId, known);
    for (const keeper of this.data.keepers()) yield* keeper.exportOf(person);
  }
}
