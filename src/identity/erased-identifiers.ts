import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource, type EntityManager } from 'typeorm';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { KeyedRecords } from '../platform/secrets/secrets-key-check';
import { SecretBox } from '../platform/secrets/secret-box';
import { tenantIdentifierKey, type Identifier, type TenantIdentifier } from './domain/identifier';
import type { TenantClaim } from './domain/identity-batch';
import {
  FAIL_IF_ANY_ERASED,
  FAIL_IF_ERASED,
  FIND_ANY_ERASURE,
  FIND_ERASED,
  FIND_ERASED_PERSONS,
  FIND_WITH_ERASED,
} from './profile.sql';

/** The hashes of erased identifiers, which need the SECRETS_KEY that they were made with. */
export const ERASED_HASHES: KeyedRecords = {
  loss: 'identifiers of erased persons: they are not recognised any more, and events for them are accepted again',
  count: { name: 'erased_hashes_count', text: 'SELECT count(*)::int AS count FROM erased_identifiers' },
};

/** Erased identifiers that this node received lately: sources that do not know of an erasure send them again. */
const SUSPECTS_MAX = 10_000;
/** Workspaces that are known to have erased identifiers; one takes some 100 bytes. */
const WORKSPACES_MAX = 10_000;

/**
 * The identifiers of erased persons. Only a keyed hash of each is stored.
 *
 * Ingest checks only identifiers that no profile owns, in the flush that inserts them, so that known identifiers cost
 * nothing. An identifier that it finds becomes a suspect: from then on it is checked with the first read. The answer
 * always comes from the database, because an erasure can be lifted.
 *
 * In a workspace without erased identifiers none is hashed, which takes 6 µs each: the database is asked for any.
 */
@Injectable()
export class ErasedIdentifiers {
  /** Entries have size 1. With `max` the caches would allocate all their memory at the start. */
  private readonly suspects = new LRUCache<string, true>({ maxSize: SUSPECTS_MAX, sizeCalculation: () => 1 });
  /** Workspaces that had erased identifiers when this node last looked; from others, none is expected. */
  private readonly workspaces = new LRUCache<string, true>({ maxSize: WORKSPACES_MAX, sizeCalculation: () => 1 });

  constructor(
    private readonly database: DataSource,
    private readonly box: SecretBox,
  ) {}

  /** Whether there is a SECRETS_KEY. Without one, erased identifiers cannot be recognised. */
  get hasKey(): boolean {
    return this.box.canSeal;
  }

  /** Whether there are erased identifiers, in any workspace. */
  async hasAny(): Promise<boolean> {
    const rows: unknown[] = await this.database.query('SELECT 1 FROM erased_identifiers LIMIT 1');
    return rows.length > 0;
  }

  /** Whether anybody was erased in a workspace, or is being erased. */
  async hasAnyIn(tenantId: string): Promise<boolean> {
    if (!this.hasKey) return false;
    const rows: unknown[] = await this.database.query(FIND_ANY_ERASURE.text, [tenantId]);
    return rows.length > 0;
  }

  /** Returns those of the identifiers that belong to persons who are erased, or are being erased. Outside of ingest. */
  async ofErasedPersons(tenantId: string, identifiers: readonly Identifier[]): Promise<readonly Identifier[]> {
    if (identifiers.length === 0 || !this.hasKey) return [];
    const [, hashes] = this.hashColumns(identifiers.map((identifier) => ({ tenantId, ...identifier })));
    const rows: { position: string }[] = await this.database.query(FIND_ERASED_PERSONS.text, [
      tenantId,
      identifiers.map(({ kind }) => kind),
      identifiers.map(({ value }) => value),
      hashes,
    ]);
    return rows.flatMap(({ position }) => identifiers[Number(position) - 1] ?? []);
  }

  /** Returns those of the identifiers that are an erased person's. Sends no query for an empty list. */
  async find(transaction: Transaction, identifiers: readonly TenantIdentifier[]): Promise<readonly TenantIdentifier[]> {
    if (identifiers.length === 0 || !this.hasKey) return [];
    const rows = await transaction.send<{ position: string }>(FIND_ERASED, this.hashColumns(identifiers));
    const found = rows.flatMap(({ position }) => identifiers[Number(position) - 1] ?? []);
    for (const identifier of found) this.suspects.set(tenantIdentifierKey(identifier), true);
    return found;
  }

  /** Voids the transaction's precondition (platform/postgres/precondition.ts) at COMMIT if one of them is an erased person's. */
  assertNone(transaction: Transaction, identifiers: readonly TenantIdentifier[]): void {
    if (!this.hasKey) return;
    const hashed = identifiers.filter(({ tenantId }) => this.workspaces.has(tenantId));
    const others = this.workspacesWithoutAny(identifiers);
    if (hashed.length > 0) transaction.sendLast(FAIL_IF_ERASED, this.hashColumns(hashed));
    if (others.length > 0) transaction.sendLast(FAIL_IF_ANY_ERASED, [others]);
  }

  /** Looks up which workspaces have erased identifiers, for the next `assertNone`. */
  async lookUpWorkspaces(transaction: Transaction, claims: readonly Pick<TenantClaim, 'tenantId'>[]): Promise<void> {
    const asked = this.hasKey ? this.workspacesWithoutAny(claims) : [];
    if (asked.length === 0) return;
    const found = await transaction.send<{ tenant_id: string }>(FIND_WITH_ERASED, [asked]);
    for (const { tenant_id: tenantId } of found) this.workspaces.set(tenantId, true);
  }

  /** Whether any of the claims names an identifier that was found before. */
  areSuspects(claims: readonly Pick<TenantClaim, 'tenantId' | 'identifiers'>[]): boolean {
    if (this.suspects.size === 0) return false;
    return claims.some(({ tenantId, identifiers }) =>
      identifiers.some((identifier) => this.suspects.has(tenantIdentifierKey({ tenantId, ...identifier }))),
    );
  }

  /** `find`, for identifiers that were found before only. */
  findSuspects(
    transaction: Transaction,
    identifiers: readonly TenantIdentifier[],
  ): Promise<readonly TenantIdentifier[]> {
    if (this.suspects.size === 0) return Promise.resolve([]);
    return this.find(
      transaction,
      identifiers.filter((identifier) => this.suspects.has(tenantIdentifierKey(identifier))),
    );
  }

  /**
   * Stores the hashes of a customer's identifiers, in the transaction that deletes the identifiers. The one of a participant
   * who has begun anew is there already: it stays with the others that were erased with it, and is lifted with them.
   */
  async remember(
    manager: EntityManager,
    tenantId: string,
    identifiers: readonly Identifier[],
    profileId: string,
    at: Date,
  ): Promise<void> {
    await manager.query(
      `INSERT INTO erased_identifiers (tenant_id, hash, profile_id, erased_at)
       SELECT $1, decode(hash, 'hex'), $3, $4 FROM unnest($2::text[]) AS hash ORDER BY hash
       ON CONFLICT ON CONSTRAINT erased_identifiers_pkey
       DO UPDATE SET erased_at = excluded.erased_at`,
      [tenantId, identifiers.map((each) => this.hashOf({ tenantId, ...each }).toString('hex')), profileId, at],
    );
  }

  /** Deletes the hashes of all identifiers of the person with this identifier. Returns the profile id of each. */
  async lift(manager: EntityManager, tenantId: string, identifier: Identifier): Promise<string[]> {
    if (!this.hasKey) return [];
    const [lifted]: [{ profile_id: string }[], number] = await manager.query(
      `DELETE FROM erased_identifiers WHERE tenant_id = $1 AND erased_at > '-infinity' AND profile_id IN (
         SELECT profile_id FROM erased_identifiers WHERE tenant_id = $1 AND hash = $2) RETURNING profile_id`,
      [tenantId, this.hashOf({ tenantId, ...identifier })],
    );
    return lifted.map((row) => row.profile_id);
  }

  /** The workspaces, each once, that are not known to have erased identifiers. */
  private workspacesWithoutAny(rows: readonly Pick<TenantIdentifier, 'tenantId'>[]): string[] {
    return [...new Set(rows.map(({ tenantId }) => tenantId))].filter((tenantId) => !this.workspaces.has(tenantId));
  }

  private hashColumns(identifiers: readonly TenantIdentifier[]): [string[], string[]] {
    return [
      identifiers.map(({ tenantId }) => tenantId),
      identifiers.map((identifier) => this.hashOf(identifier).toString('hex')),
    ];
  }

  private hashOf({ tenantId, kind, value }: TenantIdentifier): Buffer {
    return this.box.keyedHash([tenantId, kind, value]);
  }
}
