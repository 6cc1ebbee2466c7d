import { Injectable } from '@nestjs/common';
import { CustomerReader, type Customer } from '../identity/customer-reader';
import { parseIdentityReference, type IdentityReference } from '../identity/domain/identity-reference';
import type { Identifier } from '../identity/domain/identifier';
import { IdentityService } from '../identity/identity.service';
import { Timeline, type TimelineExtent } from '../ingest/timeline';
import { DomainError } from '../platform/errors/domain-error';
import { validationFailed } from '../platform/errors/validation-failed';
import { isUuid } from '../platform/ids/uuid';

export interface CustomerView {
  readonly customer: Customer;
  readonly extent: TimelineExtent;
}

/** Shows customers (contract section 5). */
@Injectable()
export class ProfilesService {
  constructor(
    private readonly customers: CustomerReader,
    private readonly identity: IdentityService,
    private readonly timeline: Timeline,
  ) {}

  /** The customer of any of its profiles' ids. Throws `not_found`, also for one who was erased. */
  async find(tenantId: string, profileId: string): Promise<Customer> {
    const customer = isUuid(profileId) ? await this.customers.findById(tenantId, profileId) : null;
    if (customer === null) throw noSuchProfile();
    return customer;
  }

  async view(tenantId: string, customer: Customer): Promise<CustomerView> {
    return { customer, extent: await this.timeline.extent(tenantId, customer.profileIds) };
  }

  /** Throws `validation_failed` for what cannot be anybody's identifier, and `not_found`. */
  async lookUp(tenantId: string, reference: IdentityReference): Promise<Customer> {
    const customer = await this.customers.findByIdentifier(tenantId, this.identifierOf(reference));
    if (customer === null) throw nobodyHasIdentifier();
    return customer;
  }

  /** One normalised identifier, as a body of its own names it. Throws `validation_failed`. */
  identifierOf(reference: IdentityReference): Identifier {
    const parsed = parseIdentityReference(reference, this.identity.rules, '');
    if ('faults' in parsed) throw validationFailed(parsed.faults);
    const [identifier] = parsed.identifiers;
    if (identifier === undefined) throw new Error('An identity without a fault names nobody');
    return identifier;
  }
}

/** 404, also for a profile of another workspace and for a person who was erased. */
export function noSuchProfile(): DomainError {
  return new DomainError('not_found', 'There is no profile with this id in this workspace.');
}

/** 404, also for a person who was erased. */
export function nobodyHasIdentifier(): DomainError {
  return new DomainError('not_found', 'Nobody in this workspace has this identifier.');
}
