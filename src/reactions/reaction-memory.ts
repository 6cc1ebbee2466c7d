import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { distinctKinds, kindName, type EventKind } from '../processing/domain/event-effects';
import { compileCondition } from './domain/compile-condition';
import type { Condition } from './domain/condition';
import { sharedCopiesOf } from './domain/personal-data';
import type { ReadyReaction } from './domain/react';
import { type ReactionOperation, REACTIONS_PER_EVENT_TYPE_MAX } from './domain/reaction';
import { READ_REACTIONS, READ_SET_VERSIONS } from './reaction.sql';

/** Bytes of JSON; ready to be asked, a condition takes some ten times as much. */
const REMEMBERED_BYTES_MAX = 16 * 1024 * 1024;
/** What an entry takes beside its reactions: most types of events have none. */
const ENTRY_BYTES = 200;

interface Remembered {
  readonly version: string;
  readonly reactions: readonly ReadyReaction[];
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
}

/**
 * The reactions to types of events, exactly as they are: what is remembered counts only while the version that the caller's
 * transaction sees is the one it was read under. So an event that was received after a definition meets it on every node.
 */
@Injectable()
export class ReactionMemory {
  private readonly remembered = new LRUCache<string, Remembered>({
    maxSize: REMEMBERED_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });

  /** By `kindName`; a type without reactions may be missing. In the order of their first definition. */
  async read(
    transaction: Transaction,
    wanted: readonly EventKind[],
  ): Promise<ReadonlyMap<string, readonly ReadyReaction[]>> {
    const keys = distinctKinds(wanted);
    const versions = await this.versionsOf(transaction, [...new Set(keys.map(({ tenantId }) => tenantId))]);
    const found = new Map<string, readonly ReadyReaction[]>();
    const unknown: EventKind[] = [];
    for (const key of keys) {
      const version = versions.get(key.tenantId);
      if (version === undefined) continue;
      const known = this.remembered.get(kindName(key));
      if (known?.version === version) found.set(kindName(key), known.reactions);
      else unknown.push(key);
    }
    for (const [key, entry] of await this.load(transaction, unknown, versions)) {
      this.remembered.set(key, entry);
      found.set(key, entry.reactions);
    }
    return found;
  }

  /** How often the reactions of workspaces have changed; those that never had one are missing. */
  private async versionsOf(
    transaction: Transaction,
    tenantIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const rows = await transaction.send<{ tenant_id: string; version: string }>(READ_SET_VERSIONS, [tenantIds]);
    return new Map(rows.map(({ tenant_id: tenantId, version }) => [tenantId, version]));
  }

  /** Read behind the versions, and so at least as new. */
  private async load(
    transaction: Transaction,
    keys: readonly EventKind[],
    versions: ReadonlyMap<string, string>,
  ): Promise<Map<string, Remembered>> {
    if (keys.length === 0) return new Map();
    const rows = await transaction.send<ReactionRow>(READ_REACTIONS, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ eventType }) => eventType),
      REACTIONS_PER_EVENT_TYPE_MAX,
    ]);
    const entries = keys.map((key, index): [string, Remembered] => {
      const own = rows.filter(({ position }) => Number(position) === index + 1);
      const bytes = own.reduce((sum, row) => sum + JSON.stringify(row).length, ENTRY_BYTES);
      return [kindName(key), { version: versions.get(key.tenantId) ?? '', reactions: own.map(readyOf), bytes }];
    });
    return new Map(entries);
  }
}

function readyOf(row: ReactionRow): ReadyReaction {
  const { id, campaign_id: campaignId, name, source, condition, operations: ops, applies_from: appliesFrom } = row;
  return {
    reaction: { id, campaignId, name, source, ops, appliesFrom },
    condition: condition === null ? undefined : compileCondition(condition),
    sharedCopies: sharedCopiesOf(ops),
  };
}
