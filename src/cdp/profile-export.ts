import { Injectable } from '@nestjs/common';
import type { Customer } from '../identity/customer-reader';
import { MergesService } from '../identity/merges.service';
import { idPageStart } from '../platform/pagination/id-key';
import { PersonalData, type PersonalRecord } from '../platform/personal-data/personal-data';
import { MergeDto } from './dto/merge.dto';
import { ProfileDto } from './dto/profile.dto';
import { Persons } from './persons';
import { ProfilesService } from './profiles.service';

const MERGES_PER_PAGE = 200;

/** Everything that is held about a customer, unmasked (contract section 5). */
@Injectable()
export class ProfileExport {
  constructor(
    private readonly profiles: ProfilesService,
    private readonly merges: MergesService,
    private readonly persons: Persons,
    private readonly data: PersonalData,
  ) {}

  /** The profile with its identifiers, its merges, then what each feature keeps; read as it is asked for. */
  async *records(tenantId: string, customer: Customer): AsyncIterable<PersonalRecord> {
    const view = await this.profiles.view(tenantId, customer);
    yield { record: 'profile', data: ProfileDto.of(view, { unmasked: true }) };
    for (let cursor: string | null | undefined; cursor !== null;) {
      const start = idPageStart(cursor);
      const page = await this.merges.list(tenantId, customer.profileIds, start, MERGES_PER_PAGE);
      for (const merge of page.rows) yield { record: 'merge', data: MergeDto.of(merge) };
      cursor = page.nextCursor;
    }
    const person = this.persons.of(tenantId, customer);
    for (const keeper of this.data.keepers()) yield* keeper.exportOf(person);
  }
}
