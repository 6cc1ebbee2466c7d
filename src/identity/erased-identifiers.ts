import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource, type EntityManager } from 'typeorm';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { SecretBox } from '../platform/secrets/secret-box';
import { tenantIdentifierKey, type Identifier, type TenantIdentifier } from './domain/identifier';
import { FIND_ERASED } from './profile.sql';

/** Identifiers of erased persons that this node has met lately; sources that do not know of an erasure send them again. */
const SUSPECTS_MAX = 10_000;

/**
 * The identifiers of erased persons, of which nothing is left but a keyed hash. Ingest looks only for those that nobody holds: in
 * the flush that claims them, so that the others cost nothing. What it finds there is a suspect, and is asked for with the first
 * look from then on; the answer always comes from the database, since erasures are lifted.
 */
@Injectable()
export class ErasedIdentifiers {
  private readonly suspects = new LRUCache<string, true>({ max: SUSPECTS_MAX });

  constructor(
    private readonly database: DataSource,
    private readonly box: SecretBox,
  ) {}

  /** Without a key nothing can be recognised again, so nobody may be erased. */
  get canRemember(): boolean {
    return this.box.canSeal;
  }

  /** Whether there is anybody to recognise, in any workspace. */
  async isAnybody(): Promise<boolean> {
    const rows: unknown[] = await this.database.query('SELECT 1 FROM erased_identifiers LIMIT 1');
    return rows.length > 0;
  }

  /** Those of these identifiers that are an erased person's. Sends nothing when there are none to ask for. */
  async find(transaction: Transaction, identifiers: readonly TenantIdentifier[]): Promise<readonly TenantIdentifier[]> {
    if (identifiers.length === 0 || !this.canRemember) return [];
    const rows = await transaction.send<{ position: string }>(FIND_ERASED, [
      identifiers.map(({ tenantId }) => tenantId),
      identifiers.map((identifier) => this.hashOf(identifier).toString('hex')),
    ]);
    const found = rows.flatMap(({ position }) => identifiers[Number(position) - 1] ?? []);
    for (const identifier of found) this.suspects.set(tenantIdentifierKey(identifier), true);
    return found;
  }

  /** The same, of those that were found before. */
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

  /** Writes down what an erased customer was known by, in the transaction that forgets it. */
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
       DO UPDATE SET profile_id = excluded.profile_id, erased_at = excluded.erased_at`,
      [tenantId, identifiers.map((each) => this.hashOf({ tenantId, ...each }).toString('hex')), profileId, at],
    );
  }

  /** Forgets whoever was erased with this identifier, for all their identifiers; answers how many those were. */
  async lift(tenantId: string, identifier: Identifier): Promise<number> {
    if (!this.canRemember) return 0;
    const [, lifted]: [unknown, number] = await this.database.query(
      `DELETE FROM erased_identifiers WHERE tenant_id = $1 AND erased_at > '-infinity' AND profile_id IN (
         SELECT profile_id FROM erased_identifiers WHERE tenant_id = $1 AND hash = $2)`,
      [tenantId, this.hashOf({ tenantId, ...identifier })],
    );
    return lifted;
  }

  private hashOf({ tenantId, kind, value }: TenantIdentifier): Buffer {
    return this.box.keyedHash([tenantId, kind, value]);
  }
}
