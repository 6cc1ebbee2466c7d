import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
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
  readonly identifiers: readonly Identifier[] | null;
}

/** Finds customers for people who ask about them. An erased one is not found. */
@Injectable()
export class CustomerReader {
  constructor(private readonly database: DataSource) {}

  /** By the id of any of its profiles. */
  async findById(tenantId: string, profileId: string): Promise<Customer | null> {
    // One statement, so that a merge or its undoing that commits meanwhile is seen wholly or not at all.
    const [row]: CustomerRow[] = await this.database.query(
      `WITH root AS (
         SELECT r.profile_id, r.created_at
         FROM profiles p JOIN profiles r ON r.tenant_id = p.tenant_id AND r.profile_id = p.root_id
         WHERE p.tenant_id = $1 AND p.profile_id = $2 AND r.erased_at IS NULL
       ), members AS (
         SELECT profile_id, created_at, 0 AS place FROM root
         UNION ALL
         SELECT p.profile_id, p.created_at, 1
         FROM root JOIN profiles p ON p.tenant_id = $1 AND p.root_id = root.profile_id AND p.root_id <> p.profile_id
       )
       SELECT (SELECT profile_id FROM root) AS root_id, min(m.created_at) AS created_at,
         array_agg(m.profile_id::text ORDER BY m.place, m.created_at, m.profile_id) AS members,
         (SELECT json_agg(json_build_object('kind', i.kind, 'value', i.value) ORDER BY i.value)
          FROM members JOIN profile_identifiers i
            ON i.tenant_id = $1 AND i.profile_id = members.profile_id AND i.kind <> '') AS identifiers
       FROM members m
       HAVING count(*) > 0`,
      [tenantId, profileId],
    );
    return row === undefined ? null : customerOf(row);
  }

  async findByIdentifier(tenantId: string, { kind, value }: Identifier): Promise<Customer | null> {
    const [row]: { profile_id: string }[] = await this.database.query(
      'SELECT profile_id FROM profile_identifiers WHERE tenant_id = $1 AND kind = $2 AND value = $3',
      [tenantId, kind, value],
    );
    return row === undefined ? null : this.findById(tenantId, row.profile_id);
  }
}

function customerOf(row: CustomerRow): Customer {
  const strength = ({ kind }: Identifier): number => IDENTIFIER_KINDS.indexOf(kind);
  return {
    rootId: row.root_id,
    profileIds: row.members,
    identifiers: (row.identifiers ?? []).toSorted((a, b) => strength(a) - strength(b)),
    createdAt: row.created_at,
  };
}
