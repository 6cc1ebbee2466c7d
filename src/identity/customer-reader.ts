import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { cursorAfterLookedAt, type LookedAtRow } from '../platform/pagination/id-key';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { READ_CUSTOMER, READ_CUSTOMERS } from './customer.sql';
import { IDENTIFIER_KINDS, type Identifier } from './domain/identifier';

/** A customer as it is now: all profiles that were merged into one. */
export interface Customer {
  /** The id that it answers with; those of the other members keep working. */
  readonly rootId: string;
  /** Every profile of it, the root first, the others by age. */
  readonly profileIds: readonly string[];
  /** The strongest first. */
  readonly identifiers: readonly Identifier[];
  /** When the first event of its oldest profile was received. */
  readonly createdAt: Date;
}

interface CustomerRow {
  readonly root_id: string;
  readonly created_at: Date;
  readonly members: readonly string[];
  /** JSON text; null for none. */
  readonly identifiers: string | null;
}

/** A profile that a page has looked at. */
type ProfileRow = (CustomerRow | { readonly root_id: null }) & LookedAtRow;

/** Some customers in the order of a list, and where it goes on; null at the end. */
export interface CustomerPage {
  readonly customers: readonly Customer[];
  readonly nextCursor: string | null;
}

/**
 * Profiles that one page may look at (docs/adr/0012): those that were merged into others or erased are among them. Such a page comes
 * short, and its cursor goes on where it stopped.
 */
const PROFILES_LOOKED_AT_MAX = 10_000;

/** Finds customers for people who ask about them. An erased one is not found. */
@Injectable()
export class CustomerReader {
  constructor(private readonly database: DataSource) {}

  /** By the id of any of its profiles. */
  async findById(tenantId: string, profileId: string): Promise<Customer | null> {
    const [row]: CustomerRow[] = await this.database.query(READ_CUSTOMER, [tenantId, profileId]);
    return row === undefined ? null : customerOf(row);
  }

  async findByIdentifier(tenantId: string, { kind, value }: Identifier): Promise<Customer | null> {
    const [row]: { profile_id: string }[] = await this.database.query(
      'SELECT profile_id FROM profile_identifiers WHERE tenant_id = $1 AND kind = $2 AND value = $3',
      [tenantId, kind, value],
    );
    return row === undefined ? null : this.findById(tenantId, row.profile_id);
  }

  /**
   * One page of all customers, by the ids of their surviving profiles below `before`: the newest first, as these are UUIDv7. A page
   * ends by its bytes as well (docs/adr/0038). One statement.
   */
  async list(tenantId: string, before: string, limit: number): Promise<CustomerPage> {
    const rows: ProfileRow[] = await this.database.query(READ_CUSTOMERS, [
      ...[tenantId, before, limit, PAGE_BYTES_MAX, PROFILES_LOOKED_AT_MAX],
    ]);
    const shown = rows.filter((row): row is LookedAtRow & CustomerRow => row.root_id !== null);
    const nextCursor = cursorAfterLookedAt(rows, shown.at(-1), PROFILES_LOOKED_AT_MAX);
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
