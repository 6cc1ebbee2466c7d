import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { TenantIdentifier } from './domain/identifier';
import type {
  CustomerProfile,
  CustomerSeparation,
  KnownIdentifier,
  TenantPlan,
  TenantProfile,
} from './domain/identity-batch';
import type { HeldCustomer, KnownCustomer, MergeSide, PartedProfiles } from './domain/known-identities';
import * as sql from './profile.sql';
import { READ_PARTED, READ_SEPARATIONS } from './separations.sql';

/** Each further attempt sees the erasure that came in between before. */
const HOLD_ATTEMPTS_MAX = 5;

interface CustomerRow {
  readonly profile_id: string;
  readonly root_id: string;
  readonly erased: boolean;
  readonly held: boolean;
  readonly external_id: string | null;
  readonly others: readonly string[];
}

interface SeparationRow {
  readonly tenant_id: string;
  readonly root_id: string;
  readonly merge_id: string;
  readonly side: MergeSide;
}

interface IdentifierRow {
  readonly position: string;
  readonly profile_id: string;
  readonly erased: boolean;
  readonly root_id: string;
  readonly external_id: string | null;
  readonly email_count: number;
  readonly phone_count: number;
  readonly device_count: number;
  readonly version: number;
  readonly created_ms: number;
  readonly root_erased: boolean;
}

/**
 * The identity tables. A method with a transaction sends its statements before it returns its promise (one pipelined
 * flush).
 */
@Injectable()
export class ProfileRepository {
  /** Looks identifiers up; unknown ones are missing from the result. */
  async read(transaction: Transaction, identifiers: readonly TenantIdentifier[]): Promise<KnownIdentifier[]> {
    const rows = await transaction.send<IdentifierRow>(sql.READ_IDENTIFIERS, [
      identifiers.map((identifier) => identifier.tenantId),
      identifiers.map((identifier) => identifier.kind),
      identifiers.map((identifier) => identifier.value),
    ]);
    return rows.flatMap((row) => {
      const identifier = identifiers[Number(row.position) - 1];
      return identifier === undefined ? [] : [knownIdentifier(identifier, row)];
    });
  }

  /** The separations of customers, by root. The result may contain duplicates. */
  async readSeparations(transaction: Transaction, roots: readonly TenantProfile[]): Promise<CustomerSeparation[]> {
    const rows = await transaction.send<SeparationRow>(READ_SEPARATIONS, columns(roots));
    return rows.map(({ tenant_id: tenantId, root_id: rootId, merge_id: mergeId, side }) => ({
      tenantId,
      rootId,
      mergeId,
      side,
    }));
  }

  /** Locks customers, in the same order on all nodes. Returns the version of each that is still a root, by root id. */
  async lockRoots(transaction: Transaction, roots: readonly TenantProfile[]): Promise<Map<string, number>> {
    const rows = await transaction.send<{ profile_id: string; version: number }>(
      sql.LOCK_ROOTS,
      columns(roots.toSorted(byProfile)),
    );
    return new Map(rows.map((row) => [row.profile_id, row.version]));
  }

  /** Inserts new identifiers. Returns how many this transaction inserted; the others exist already. */
  async insertIdentifiers(
    transaction: Transaction,
    identifiers: readonly (TenantIdentifier & TenantProfile)[],
  ): Promise<number> {
    return (await transaction.send(sql.INSERT_IDENTIFIERS, identifierColumns(identifiers))).length;
  }

  /** Removes identifiers that this transaction has inserted. Others wait for its end before they insert the same. */
  async removeInserted(transaction: Transaction, identifiers: readonly TenantIdentifier[]): Promise<void> {
    await transaction.send(sql.REMOVE_INSERTED_IDENTIFIERS, [
      identifiers.map(({ tenantId }) => tenantId),
      identifiers.map(({ kind }) => kind),
      identifiers.map(({ value }) => value),
    ]);
  }

  /** Inserts new identifiers with COMMIT; the precondition is void if one of them exists already. */
  insertIdentifiersLast(transaction: Transaction, identifiers: readonly (TenantIdentifier & TenantProfile)[]): void {
    if (identifiers.length > 0) transaction.sendLast(sql.INSERT_IDENTIFIERS_AT_COMMIT, identifierColumns(identifiers));
  }

  /** Locks profiles, so that they cannot be erased before the transaction ends. Returns the ids of those that are not. */
  async holdProfiles(transaction: Transaction, profiles: readonly TenantProfile[]): Promise<readonly string[]> {
    const values = columns(profiles.toSorted(byProfile));
    const rows = await transaction.send<{ profile_id: string }>(sql.HOLD_PROFILES, values);
    return rows.map((row) => row.profile_id);
  }

  /**
   * Does the same with COMMIT. The transaction's precondition (platform/postgres/precondition.ts): no profile is
   * erased, and each still belongs to the given customer.
   */
  holdProfilesLast(transaction: Transaction, profiles: readonly CustomerProfile[]): void {
    const sorted = profiles.toSorted(byProfile);
    transaction.sendLast(sql.HOLD_KNOWN_PROFILES, [...columns(sorted), sorted.map(({ rootId }) => rootId)]);
  }

  /**
   * The customers that profiles belong to now, by profile id. Locks those that are not erased until the transaction
   * ends.
   */
  async holdCustomers(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<Map<string, HeldCustomer>> {
    const customers = new Map<string, HeldCustomer>();
    let asked = profileIds;
    for (let attempt = 1; asked.length > 0 && attempt <= HOLD_ATTEMPTS_MAX; attempt += 1) {
      const rows = await transaction.send<CustomerRow>(sql.HOLD_CUSTOMERS, [tenantId, asked.toSorted()]);
      for (const { profile_id: profileId, root_id: rootId, held, external_id: externalId, others } of rows) {
        customers.set(profileId, { rootId, isErased: !held, externalId, profileIds: [rootId, ...others] });
      }
      asked = rows.filter(({ held, erased }) => !held && !erased).map((row) => row.profile_id);
    }
    return customers;
  }

  /** The profiles that undone merges have parted from these. */
  partedFrom(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<readonly PartedProfiles[]> {
    return transaction.send<PartedProfiles>(READ_PARTED, [tenantId, profileIds]);
  }

  /** Locks the customers that have no EXTERNAL identifier, until the transaction ends. Returns how many those are. */
  async holdUnlinked(transaction: Transaction, tenantId: string, rootIds: readonly string[]): Promise<number> {
    return (await transaction.send(sql.HOLD_UNLINKED, [tenantId, rootIds.toSorted()])).length;
  }

  /** Writes new profiles, changed customers and merges. The caller has locked the customers. */
  async write(transaction: Transaction, plans: readonly TenantPlan[], mergeIds: () => string): Promise<void> {
    const updates = plans.flatMap(({ tenantId, plan }) =>
      plan.rootUpdates.map((root) => ({ tenant_id: tenantId, profile_id: root.rootId, ...customerColumns(root) })),
    );
    await Promise.all([
      ...(createsProfiles(plans) ? [transaction.send(sql.INSERT_PROFILES, newProfileColumns(plans))] : []),
      ...sendRows(transaction, sql.UPDATE_ROOTS, updates),
      ...this.sendMerges(transaction, plans, mergeIds),
    ]);
  }

  /** Writes new profiles with COMMIT. */
  writeNewLast(transaction: Transaction, plans: readonly TenantPlan[]): void {
    if (createsProfiles(plans)) transaction.sendLast(sql.INSERT_PROFILES, newProfileColumns(plans));
  }

  private sendMerges(
    transaction: Transaction,
    plans: readonly TenantPlan[],
    mergeIds: () => string,
  ): Promise<unknown>[] {
    const merges = plans.flatMap(({ tenantId, plan }) => plan.merges.map((merge) => ({ tenantId, plan, ...merge })));
    if (merges.length === 0) return [];
    const log = merges.map((merge) => ({
      tenant_id: merge.tenantId,
      id: mergeIds(),
      from_profile_id: merge.loserRootId,
      into_profile_id: merge.intoRootId,
      from_evidence_id: merge.fromEvidenceId,
      into_evidence_id: merge.intoEvidenceId,
      event_id: merge.eventId,
      merged_at: new Date(merge.at).toISOString(),
    }));
    const stored = merges.filter((merge) => merge.plan.changedRoots.includes(merge.loserRootId));
    return [
      ...(stored.length === 0
        ? []
        : [
            transaction.send(sql.POINT_AT_ROOT, [
              stored.map((merge) => merge.tenantId),
              stored.map((merge) => merge.loserRootId),
              stored.map((merge) => merge.finalRootId),
            ]),
          ]),
      ...sendRows(transaction, sql.INSERT_MERGES, log),
    ];
  }
}

function knownIdentifier(identifier: TenantIdentifier, row: IdentifierRow): KnownIdentifier {
  const { tenantId, kind, value } = identifier;
  const counts = { EMAIL: row.email_count, PHONE: row.phone_count, DEVICE: row.device_count };
  return {
    tenantId,
    kind,
    value,
    profile: { profileId: row.profile_id, rootId: row.root_id, erased: row.erased || row.root_erased },
    customer: {
      rootId: row.root_id,
      externalId: row.external_id,
      createdAt: Math.round(row.created_ms),
      erased: row.root_erased,
      counts,
    },
    version: row.version,
  };
}

/** The parameters of `INSERT_PROFILES`. */
function newProfileColumns(plans: readonly TenantPlan[]): readonly unknown[][] {
  const profiles = plans.flatMap(({ tenantId, plan }) => plan.newProfiles.map((profile) => ({ tenantId, profile })));
  return [
    profiles.map(({ tenantId }) => tenantId),
    profiles.map(({ profile }) => profile.profileId),
    profiles.map(({ profile }) => profile.rootId),
    profiles.map(({ profile }) => profile.externalId),
    profiles.map(({ profile }) => profile.counts.EMAIL),
    profiles.map(({ profile }) => profile.counts.PHONE),
    profiles.map(({ profile }) => profile.counts.DEVICE),
    profiles.map(({ profile }) => profile.createdAt),
  ];
}

function createsProfiles(plans: readonly TenantPlan[]): boolean {
  return plans.some(({ plan }) => plan.newProfiles.length > 0);
}

interface CustomerState {
  readonly externalId: string | null;
  readonly counts: KnownCustomer['counts'];
}

function customerColumns({ externalId, counts }: CustomerState): Readonly<Record<string, unknown>> {
  return {
    external_id: externalId,
    email_count: counts.EMAIL,
    phone_count: counts.PHONE,
    device_count: counts.DEVICE,
  };
}

function sendRows(
  transaction: Transaction,
  statement: Parameters<Transaction['send']>[0],
  rows: readonly unknown[],
): Promise<unknown>[] {
  return rows.length === 0 ? [] : [transaction.send(statement, [JSON.stringify(rows)])];
}

function columns(profiles: readonly TenantProfile[]): [string[], string[]] {
  return [profiles.map((profile) => profile.tenantId), profiles.map((profile) => profile.profileId)];
}

/** In one order on all nodes, so that two transactions do not wait for each other. */
function identifierColumns(identifiers: readonly (TenantIdentifier & TenantProfile)[]): string[][] {
  const sorted = identifiers.toSorted(byIdentifier);
  return [
    sorted.map((identifier) => identifier.tenantId),
    sorted.map((identifier) => identifier.kind),
    sorted.map((identifier) => identifier.value),
    sorted.map((identifier) => identifier.profileId),
  ];
}

function byProfile(a: TenantProfile, b: TenantProfile): number {
  return compare(a.tenantId, b.tenantId) || compare(a.profileId, b.profileId);
}

function byIdentifier(a: TenantIdentifier, b: TenantIdentifier): number {
  return compare(a.tenantId, b.tenantId) || compare(a.kind, b.kind) || compare(a.value, b.value);
}

/** Compares by code unit, so that every node sorts in the same order, independent of its locale. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
