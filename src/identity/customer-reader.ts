import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { cursorAfterLookedAt, type LookedAtRow } from '../platform/pagination/id-key';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { preparedReads, type ReadRows } from '../platform/postgres/prepared-query';
import { READ_CUSTOMER, READ_CUSTOMERS, READ_ROOTS } from './customer.sql';
import { IDENTIFIER_KINDS, type Identifier } from './domain/identifier';
import type { Customer } from './domain/known-identities';

interface CustomerRow {
  readonly root_id: string;
  readonly created_at: Date;
  readonly members: readonly string[];
  /** JSON text; null if there are none. */
  readonly identifiers: string | null;
}

/** A profile that a page read; without the fields if the page does not show it. */
type ProfileRow = (CustomerRow | { readonly root_id: null }) & LookedAtRow;

export interface CustomerPage {
  readonly customers: readonly Customer[];
  /** Null at the end. */
  readonly nextCursor: string | null;
}

/**
 * The number of profiles that one page may read (docs/adr/0012). Merged and erased profiles count, so that a page may
 * be shorter than its limit; its cursor continues where it stopped.
 */
const PROFILES_READ_MAX = 10_000;

/** Reads customers for the API. Erased customers are not found. */
@Injectable()
export class CustomerReader {
  constructor(private readonly database: DataSource) {}

  /** The customer of a profile; null if there is none. */
  findById(tenantId: string, profileId: string): Promise<Customer | null> {
    return preparedReads(this.database, (read) => this.findByIdWith(read, tenantId, profileId));
  }

  /** The same in the round trip of other reads. */
  async findByIdWith(read: ReadRows, tenantId: string, profileId: string): Promise<Customer | null> {
    const [row] = await read<CustomerRow>(READ_CUSTOMER, [tenantId, profileId]);
    return row === undefined ? null : customerOf(row);
  }

  /**
   * The customers (root ids) that profiles belong to now, by profile; unknown profiles are missing. Events keep their profile;
   * views show the customer.
   */
  async rootsOf(read: ReadRows, tenantId: string, profileIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await read<{ profileId: string; rootId: string }>(READ_ROOTS, [tenantId, profileIds]);
    return new Map(rows.map(({ profileId, rootId }) => [profileId, rootId]));
  }

  async findByIdentifier(tenantId: string, identifier: Identifier): Promise<Customer | null> {
    const owner = await this.ownerOf(tenantId, identifier);
    return owner === undefined ? null : this.findById(tenantId, owner);
  }

  /** The profile that owns an identifier, also while its customer is being erased. */
  async ownerOf(tenantId: string, { kind, value }: Identifier): Promise<string | undefined> {
    const [row]: { profile_id: string }[] = await this.database.query(
      'SELECT profile_id FROM profile_identifiers WHERE tenant_id = $1 AND kind = $2 AND value = $3',
      [tenantId, kind, value],
    );
    return row?.profile_id;
  }

  /**
   * One page of customers with root ids below `before`, newest first: root ids are UUIDv7. A page also has a limit in
   * bytes (docs/adr/0038). One statement.
   */
  async list(tenantId: string, before: string, limit: number): Promise<CustomerPage> {
    const rows: ProfileRow[] = await this.database.query(READ_CUSTOMERS, [
      tenantId,
      before,
      limit,
      PAGE_BYTES_MAX,
      PROFILES_READ_MAX,
    ]);
    const shown = rows.filter((row): row is LookedAtRow & CustomerRow => row.root_id !== null);
    const nextCursor = cursorAfterLookedAt(rows, shown.at(-1), PROFILES_READ_MAX);
    return { customers: shown.map(customerOf), nextCursor };
  }
}

function customerOf(row: CustomerRow): Customer {
  const strength = ({ kind }: Identifier): number => IDENTIFIER_KINDS.indexOf(kind);
  const identifiers = JSON.parse(row.identifiers ?? '[]') as readonly Identifier[];
  return {
    rootId: row.root_id,
    profileIds: row.members,
    identifiers: identifiers.toSorted((a, b) => strength(a) - strength(b)),
    createdAt: row.created_at,
  };
}
