import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { CustomerReader } from '../../identity/customer-reader';
import {
  parseIdentityReference,
  type IdentityReference,
  type ParsedIdentity,
} from '../../identity/domain/identity-reference';
import type { Identifier } from '../../identity/domain/identifier';
import type { Customer } from '../../identity/domain/known-identities';
import { IdentityService } from '../../identity/identity.service';
import type { EventPage } from '../../ingest/log/event-reader';
import { Timeline, type TimelineRequest } from '../../ingest/log/timeline';
import { DomainError } from '../../platform/errors/domain-error';
import { validationFailed } from '../../platform/errors/validation-failed';
import { isUuid } from '../../platform/values/uuid';
import { preparedReads } from '../../platform/postgres/prepared-query';
import { cursorAfterId, idPageStart } from '../../platform/pagination/id-key';
import type { CustomerView, CustomerViewPage } from './domain/customer-view';

/** An identifier without characters is none. */
const EMPTY: ReadonlySet<string> = new Set(['']);
/** Of several profiles; some 500 bytes each. */
const CUSTOMERS_REMEMBERED_MAX = 5_000;

/** A page of the timeline of the customer with this root. */
export interface TimelinePage {
  readonly rootId: string;
  /** All of the customer. */
  readonly profileIds: readonly string[];
  readonly page: EventPage;
}

/** Reads customers for the API (contract section 5). */
@Injectable()
export class ProfilesService {
  /** The profiles that customers of several profiles had when they were read last, by workspace and profile. */
  private readonly lastProfiles = new LRUCache<string, readonly string[]>({ max: CUSTOMERS_REMEMBERED_MAX });

  constructor(
    private readonly database: DataSource,
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

  /**
   * One page of the timeline of a profile's customer. Throws `not_found`, also if the customer was erased.
   *
   * It is read in the round trip that looks up the customer: for the profiles that the customer had the last time, or for
   * this one alone, as most customers have only one. If the customer has others now, it is read again.
   */
  async timelinePage(tenantId: string, profileId: string, request: TimelineRequest): Promise<TimelinePage> {
    if (!isUuid(profileId)) throw noSuchProfile();
    const key = `${tenantId} ${profileId}`;
    const assumed = this.lastProfiles.get(key) ?? [profileId];
    const [customer, page] = await preparedReads(this.database, (read) =>
      Promise.all([
        this.customers.findByIdWith(read, tenantId, profileId),
        this.timeline.page(tenantId, assumed, request, read),
      ]),
    );
    if (customer === null) throw noSuchProfile();
    const { rootId, profileIds } = customer;
    if (profileIds.join() === assumed.join()) return { rootId, profileIds, page };
    if (this.timeline.sharesRoundTrip(profileIds)) this.lastProfiles.set(key, profileIds);
    return { rootId, profileIds, page: await this.timeline.page(tenantId, profileIds, request) };
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
   * Normalises the identifier that a person is looked up by. Takes placeholders, too: events with one are refused, but a
   * participant may have one as `sub`, and must be found and erased.
   */
  parseIdentity(reference: IdentityReference): ParsedIdentity {
    return parseIdentityReference(reference, { ...this.identity.rules, placeholders: EMPTY }, '');
  }

  /** The same of an `IdentityLookupDto`. Throws `validation_failed`. */
  identifierOf(reference: IdentityReference): Identifier {
    const parsed = this.parseIdentity(reference);
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
