import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../platform/values/clock';
import { InvalidationFeed } from '../../platform/invalidation/invalidation-feed';
import { InvalidatingCache } from '../../platform/invalidation/invalidating-cache';
import { PATH_NAME } from '../../platform/values/text/path-name';
import { compileContract, type ContractCheck } from './domain/event-contract';
import type { EventTypeVersion } from './entities/event-type-version.entity';
import { EventTypeRepository } from './event-type.repository';

/** The compiled current version of an event type. */
export interface Contract {
  readonly version: number;
  readonly isDeprecated: boolean;
  readonly check: ContractCheck;
}

type CurrentVersion = Omit<Contract, 'check'>;

const EVENT_TYPES_MAX = 10_000;
/**
 * The memory for compiled contracts on a node: about 5 bytes for each character of a definition, plus the rules
 * themselves. It holds some thousand usual contracts, or 60 of the largest ones.
 */
const CONTRACTS_BYTES_MAX = 64 * 1024 * 1024;
const BYTES_PER_CHARACTER = 5;
const CONTRACT_BYTES = 16 * 1024;

/**
 * The current contract of each event type (contract section 4). The number of the current version is cached until any
 * node changes it. A version never changes, so each node compiles it once and keeps it while there is room.
 */
@Injectable()
export class EventTypeContracts {
  private readonly current: InvalidatingCache<CurrentVersion | 'unregistered'>;
  private readonly checks = new LRUCache<string, { readonly check: ContractCheck; readonly bytes: number }>({
    maxSize: CONTRACTS_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });

  constructor(
    private readonly types: EventTypeRepository,
    feed: InvalidationFeed,
    clock: Clock,
  ) {
    this.current = new InvalidatingCache(feed, clock, EVENT_TYPES_MAX);
  }

  /** The contract of an event type; undefined if `eventType` is no valid name. */
  async find(tenantId: string, eventType: unknown): Promise<Contract | 'unregistered' | undefined> {
    if (typeof eventType !== 'string' || !PATH_NAME.test(eventType)) return undefined;
    const key = `${tenantId}/${eventType}`;
    const current = this.current.recall(key) ?? (await this.learn(key, tenantId, eventType));
    if (current === 'unregistered') return current;
    const { version } = current;
    const check =
      this.checks.get(`${key}/${version}`)?.check ??
      this.compile(await this.types.version(tenantId, eventType, version));
    return { ...current, check };
  }

  private learn(key: string, tenantId: string, eventType: string): Promise<CurrentVersion | 'unregistered'> {
    return this.current.learn(key, async () => {
      const subject = { tenantId, kind: 'event_type', id: eventType } as const;
      const latest = await this.types.latest(tenantId, eventType);
      // Not both at once: a batch may name a thousand types that nobody has registered.
      if (latest === null) return { value: 'unregistered', subject };
      this.compile(latest);
      const type = await this.types.find(tenantId, eventType);
      return { value: { version: latest.version, isDeprecated: (type?.deprecatedAt ?? null) !== null }, subject };
    });
  }

  /** Compiles a version, or returns it from the cache. */
  private compile({ tenantId, eventType, version, definition }: EventTypeVersion): ContractCheck {
    const key = `${tenantId}/${eventType}/${version}`;
    const known = this.checks.get(key);
    if (known !== undefined) return known.check;
    const bytes = CONTRACT_BYTES + BYTES_PER_CHARACTER * JSON.stringify(definition).length;
    const check = compileContract(definition);
    this.checks.set(key, { check, bytes });
    return check;
  }
}
