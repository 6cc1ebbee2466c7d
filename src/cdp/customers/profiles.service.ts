import { Injectable } from '@nestjs/common';
import { CustomerReader } from '../../identity/customer-reader';
import { parseIdentityReference, type IdentityReference } from '../../identity/domain/identity-reference';
import type { Identifier } from '../../identity/domain/identifier';
import type { Customer } from '../../identity/domain/known-identities';
import { IdentityService } from '../../identity/identity.service';
import { Timeline } from '../../ingest/log/timeline';
import { DomainError } from '../../platform/errors/domain-error';
import { validationFailed } from '../../platform/errors/validation-failed';
import { isUuid } from '../../platform/values/uuid';
import { cursorAfterId, idPageStart } from '../../platform/pagination/id-key';
import type { CustomerView, CustomerViewPage } from './domain/customer-view';

/** An identifier without characters is none. */
const EMPTY: ReadonlySet<string> = new Set(['']);

/** Reads customers for the API (contract section 5). */
@Injectable()
export class ProfilesService {
  constructor(
    private readonly customers: CustomerReader,
    private readonly identity: IdentityService,
    private readonly timeline: Timeline,
  ) {}

  /** The customer of a profile. Throws `not_found`, also if the customer was erased. */
  async find(tenantId: string, profileId: string): Promise<Customer> {
    const customer = isUuid(profileId) ? await this.customers.findById(tenantId, profileId) : null;
    if (customer === null) throw noSuchProfile();
    return customer;
  }

  async view(tenantId: string, customer: Customer): Promise<CustomerView> {
    return { customer, extent: await this.timeline.extent(tenantId, customer.profileIds) };
  }

  /**
   * One page of customers, newest first. Sends two statements; their rows, bytes and counted events are bounded. Throws
   * `validation_failed` for text that is no cursor.
   */
  async list(tenantId: string, cursor: string | undefined, limit: number): Promise<CustomerViewPage> {
    const { customers, nextCursor } = await this.customers.list(tenantId, idPageStart(cursor), limit);
    const extents = await this.timeline.extents(
      tenantId,
      customers.map(({ profileIds }) => profileIds),
    );
    const views = customers.flatMap((customer, index): CustomerView[] => {
      const extent = extents[index];
      return extent === undefined ? [] : [{ customer, extent }];
    });
    const last = views.at(-1);
    const isCut = last !== undefined && views.length < customers.length;
    return { views, nextCursor: isCut ? cursorAfterId(last.customer.rootId) : nextCursor };
  }

  /** The customer with an identifier. Throws `validation_failed` for an invalid identifier, and `not_found`. */
  async lookUp(tenantId: string, reference: IdentityReference): Promise<Customer> {
    const customer = await this.customers.findByIdentifier(tenantId, this.identifierOf(reference));
    if (customer === null) throw unknownIdentifier();
    return customer;
  }

  /**
   * Normalises the identifier of an `IdentityLookupDto`. Takes placeholders, too: events with one are refused, but a
   * participant may have one as `sub`, and must be found and erased. Throws `validation_failed`.
   */
  identifierOf(reference: IdentityReference): Identifier {
    const parsed = parseIdentityReference(reference, { ...this.identity.rules, placeholders: EMPTY }, '');
    if ('faults' in parsed) throw validationFailed(parsed.faults);
    const [identifier] = parsed.identifiers;
    if (identifier === undefined) throw new Error('A valid identity has no identifier');
    return identifier;
  }
}

/** 404, also for a profile of another workspace and for an erased customer. */
export function noSuchProfile(): DomainError {
  return new DomainError('not_found', 'There is no profile with this id in this workspace.');
}

/** 404, also for an erased person. */
export function unknownIdentifier(): DomainError {
  return new DomainError('not_found', 'No person in this workspace has this identifier.');
}
