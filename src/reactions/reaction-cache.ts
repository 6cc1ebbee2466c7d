import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { distinctKinds, kindName, type EventKind } from '../processing/domain/event-effects';
import { compileCondition } from './domain/compile-condition';
import type { Condition } from './domain/condition';
import { sharedCopiesOf } from './domain/personal-data';
import type { CompiledReaction } from './domain/react';
import { type ReactionOperation, REACTIONS_PER_EVENT_TYPE_MAX } from './domain/reaction';
import { READ_REACTIONS, READ_SET_VERSIONS } from './reaction.sql';

/** In bytes of JSON; a compiled condition takes about ten times as much. */
const CACHE_BYTES_MAX = 16 * 1024 * 1024;
/** Of an entry without reactions, as most types of events have. */
const ENTRY_BYTES = 200;

interface CacheEntry {
  readonly version: string;
  readonly reactions: readonly CompiledReaction[];
  readonly bytes: number;
}

interface ReactionRow {
  readonly position: string;
  readonly id: string;
  readonly campaign_id: string;
  readonly name: string;
  readonly source: string | null;
  readonly condition: Condition | null;
  readonly operations: readonly ReactionOperation[];
  readonly applies_from: Date;
  readonly backfill_id: string | null;
}

/**
 * The compiled reactions to types of events. An entry is valid only for the version that the caller's transaction sees,
 * so an event that was received after a definition meets it on every node.
 */
@Injectable()
export class ReactionCache {
  private readonly entries = new LRUCache<string, CacheEntry>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });

  /** By `kindName`; a type without reactions may be missing. Reactions are in the order of their first definition. */
  async read(
    transaction: Transaction,
    kinds: readonly EventKind[],
  ): Promise<ReadonlyMap<string, readonly CompiledReaction[]>> {
    const keys = distinctKinds(kinds);
    const versions = await this.versionsOf(transaction, [...new Set(keys.map(({ tenantId }) => tenantId))]);
    const found = new Map<string, readonly CompiledReaction[]>();
    const unknown: EventKind[] = [];
    for (const key of keys) {
      const version = versions.get(key.tenantId);
      if (version === undefined) continue;
      const known = this.entries.get(kindName(key));
      if (known?.version === version) found.set(kindName(key), known.reactions);
      else unknown.push(key);
    }
    for (const [key, entry] of await this.load(transaction, unknown, versions)) {
      this.entries.set(key, entry);
      found.set(key, entry.reactions);
    }
    return found;
  }

  /** The versions of the workspaces' reactions; workspaces that never had a reaction are missing. */
  private async versionsOf(
    transaction: Transaction,
    tenantIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const rows = await transaction.send<{ tenant_id: string; version: string }>(READ_SET_VERSIONS, [tenantIds]);
    return new Map(rows.map(({ tenant_id: tenantId, version }) => [tenantId, version]));
  }

  /** Runs after the versions were read, so the rows are at least as new. */
  private async load(
    transaction: Transaction,
    keys: readonly EventKind[],
    versions: ReadonlyMap<string, string>,
  ): Promise<Map<string, CacheEntry>> {
    if (keys.length === 0) return new Map();
    const rows = await transaction.send<ReactionRow>(READ_REACTIONS, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ eventType }) => eventType),
      REACTIONS_PER_EVENT_TYPE_MAX,
    ]);
    const entries = keys.map((key, index): [string, CacheEntry] => {
      const own = rows.filter(({ position }) => Number(position) === index + 1);
      const bytes = own.reduce((sum, row) => sum + JSON.stringify(row).length, ENTRY_BYTES);
      return [kindName(key), { version: versions.get(key.tenantId) ?? '', reactions: own.map(compile), bytes }];
    });
    return new Map(entries);
  }
}

function compile(row: ReactionRow): CompiledReaction {
  const { id, campaign_id: campaignId, name, source, condition, operations: ops } = row;
  return {
    reaction: { id, campaignId, name, source, ops, appliesFrom: row.applies_from, backfillId: row.backfill_id },
    condition: condition === null ? undefined : compileCondition(condition),
    sharedCopies: sharedCopiesOf(ops),
  };
}
