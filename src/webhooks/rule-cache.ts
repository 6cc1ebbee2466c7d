import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { distinctKinds, kindName, type EventKind } from '../processing/domain/event-effects';
import { compileCondition, type CompiledCondition } from '../reactions/domain/compile-condition';
import type { Condition } from '../reactions/domain/condition';
import { RULES_PER_EVENT_TYPE_MAX } from './domain/webhook';
import { READ_RULES, READ_RULE_VERSIONS } from './webhook.sql';

/** In bytes of JSON; a compiled condition takes about ten times as much. */
const CACHE_BYTES_MAX = 16 * 1024 * 1024;
/** Of an entry without rules, as most types of events have. */
const ENTRY_BYTES = 200;

/** A rule with its compiled condition. */
export interface CompiledRule {
  readonly endpointId: string;
  readonly source: string | null;
  readonly appliesFrom: Date;
  /** Undefined: all events of its type and source. */
  readonly condition: CompiledCondition | undefined;
}

interface CacheEntry {
  readonly version: string;
  readonly rules: readonly CompiledRule[];
  readonly bytes: number;
}

interface RuleRow {
  readonly position: string;
  readonly endpoint_id: string;
  readonly source: string | null;
  readonly condition: Condition | null;
  readonly applies_from: Date;
}

/** The compiled rules for types of events, each valid for the version that the caller's transaction sees. */
@Injectable()
export class WebhookRuleCache {
  private readonly entries = new LRUCache<string, CacheEntry>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });

  /** By `kindName`; a type without rules may be missing. Rules are grouped by endpoint. */
  async read(
    transaction: Transaction,
    kinds: readonly EventKind[],
  ): Promise<ReadonlyMap<string, readonly CompiledRule[]>> {
    const keys = distinctKinds(kinds);
    const tenantIds = [...new Set(keys.map(({ tenantId }) => tenantId))];
    const rows = await transaction.send<{ tenant_id: string; version: string }>(READ_RULE_VERSIONS, [tenantIds]);
    const versions = new Map(rows.map(({ tenant_id: tenantId, version }) => [tenantId, version]));
    const subscribed = keys.filter(({ tenantId }) => versions.has(tenantId));
    const isKnown = (key: EventKind): boolean =>
      this.entries.get(kindName(key))?.version === versions.get(key.tenantId);
    const loaded = await this.load(
      transaction,
      subscribed.filter((key) => !isKnown(key)),
      versions,
    );
    return new Map(
      subscribed.map((key) => {
        const name = kindName(key);
        return [name, (loaded.get(name) ?? this.entries.get(name))?.rules ?? []];
      }),
    );
  }

  /** Runs after the versions were read, so the rows are at least as new. */
  private async load(
    transaction: Transaction,
    keys: readonly EventKind[],
    versions: ReadonlyMap<string, string>,
  ): Promise<Map<string, CacheEntry>> {
    if (keys.length === 0) return new Map();
    const rows = await transaction.send<RuleRow>(READ_RULES, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ eventType }) => eventType),
      RULES_PER_EVENT_TYPE_MAX,
    ]);
    const loaded = new Map<string, CacheEntry>();
    keys.forEach((key, index) => {
      const own = rows.filter(({ position }) => Number(position) === index + 1);
      const bytes = own.reduce((sum, row) => sum + JSON.stringify(row).length, ENTRY_BYTES);
      loaded.set(kindName(key), { version: versions.get(key.tenantId) ?? '', rules: own.map(compile), bytes });
    });
    for (const [name, entry] of loaded) this.entries.set(name, entry);
    return loaded;
  }
}

function compile({ endpoint_id: endpointId, source, condition, applies_from: appliesFrom }: RuleRow): CompiledRule {
  return {
    endpointId,
    source,
    appliesFrom,
    condition: condition === null ? undefined : compileCondition(condition),
  };
}
