import { randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { Statement } from '../platform/postgres/statement';
import { distinctKinds, type EventKind, kindName } from '../ingest/domain/event';
import { TimeSlice } from '../platform/values/time-slice';

/** In bytes of JSON; a compiled condition takes up to 22 times as much. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024;
/** So much of JSON one call loads, beyond the types of its last read. */
const LOADED_BYTES_MAX = 2 * 1024 * 1024;
/** Types of one read; with fifty rules of 8 KiB each they have 3 MiB. */
const TYPES_AT_ONCE = 8;
/** Of an entry without rules, as most types of events have. */
const ENTRY_BYTES = 200;

const VERSIONS = 2 ** 48 - 1;

/**
 * The version of rules after a change. Random: a database that has lost its last transactions in a failover would count
 * to a version again that caches know with other rules.
 */
export function newRulesVersion(): number {
  return randomInt(VERSIONS);
}

interface CacheEntry<Rule> {
  /** The `kindName` of the type. */
  readonly name: string;
  readonly version: string;
  readonly rules: readonly Rule[];
  readonly bytes: number;
}

/** The rules about the first of the types that were asked for. */
export interface ReadRules<Rule> {
  /** By `kindName`; a type without rules may be missing. Rules are in the order of the statement. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  /** For so many of the kinds, at least one; further ones would take too much memory at once. */
  readonly count: number;
}

/** The rules of one feature about types of events, as they are stored. */
export interface StoredRules<Row, Rule> {
  /** `tenant_id` and `version` of the rules of the workspaces $1 (uuid[]). Without a row a workspace never had a rule. */
  readonly readVersions: Statement;
  /** Of the workspaces $1 and, beside each, a type $2 (text[]): the `position`, from 1, and columns of at most $3 rules each. */
  readonly readRules: Statement;
  readonly rulesPerEventTypeMax: number;
  readonly compile: (row: Row) => Rule;
}

/**
 * The compiled rules about types of events. An entry is valid only for the version that the caller's transaction sees, so an
 * event that was received after a definition meets it on every node.
 */
export class RuleCache<Row extends { readonly position: string }, Rule> {
  private readonly entries = new LRUCache<string, CacheEntry<Rule>>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });

  constructor(private readonly stored: StoredRules<Row, Rule>) {}

  /** `kinds`: those of some events, in their order. */
  async read(transaction: Transaction, kinds: readonly EventKind[]): Promise<ReadRules<Rule>> {
    const keys = distinctKinds(kinds);
    const versions = await this.versionsOf(transaction, [...new Set(keys.map(({ tenantId }) => tenantId))]);
    const rules = new Map<string, readonly Rule[]>();
    for (let from = 0, loadedBytes = 0; from < keys.length; from += TYPES_AT_ONCE) {
      const next = keys[from];
      if (next !== undefined && loadedBytes > LOADED_BYTES_MAX) {
        return { rules, count: kinds.findIndex((kind) => kindName(kind) === kindName(next)) };
      }
      loadedBytes += await this.readSome(transaction, keys.slice(from, from + TYPES_AT_ONCE), versions, rules);
    }
    return { rules, count: kinds.length };
  }

  /** Adds the rules of these types to `found`. Returns the bytes of those that were not cached. */
  private async readSome(
    transaction: Transaction,
    keys: readonly EventKind[],
    versions: ReadonlyMap<string, string>,
    found: Map<string, readonly Rule[]>,
  ): Promise<number> {
    const unknown: EventKind[] = [];
    for (const key of keys) {
      const version = versions.get(key.tenantId);
      if (version === undefined) continue;
      const known = this.entries.get(kindName(key));
      if (known?.version === version) found.set(kindName(key), known.rules);
      else unknown.push(key);
    }
    let loadedBytes = 0;
    for (const entry of await this.load(transaction, unknown, versions)) {
      this.entries.set(entry.name, entry);
      found.set(entry.name, entry.rules);
      loadedBytes += entry.bytes;
    }
    return loadedBytes;
  }

  private async versionsOf(
    transaction: Transaction,
    tenantIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const rows = await transaction.send<{ tenant_id: string; version: string }>(this.stored.readVersions, [tenantIds]);
    return new Map(rows.map(({ tenant_id: tenantId, version }) => [tenantId, version]));
  }

  /** Runs after the versions were read, so the rows are at least as new. */
  private async load(
    transaction: Transaction,
    keys: readonly EventKind[],
    versions: ReadonlyMap<string, string>,
  ): Promise<readonly CacheEntry<Rule>[]> {
    if (keys.length === 0) return [];
    const { readRules, rulesPerEventTypeMax, compile } = this.stored;
    const rows = await transaction.send<Row>(readRules, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ eventType }) => eventType),
      rulesPerEventTypeMax,
    ]);
    const loaded = keys.map((key) => ({
      name: kindName(key),
      version: versions.get(key.tenantId) ?? '',
      rules: [] as Rule[],
      bytes: ENTRY_BYTES,
    }));
    const slice = new TimeSlice();
    for (const [index, row] of rows.entries()) {
      // Also the fifty rules of one type may take longer than others may wait.
      if (index > 0) await slice.pause();
      const entry = loaded[Number(row.position) - 1];
      if (entry === undefined) continue;
      entry.rules.push(compile(row));
      entry.bytes += JSON.stringify(row).length;
    }
    return loaded;
  }
}
