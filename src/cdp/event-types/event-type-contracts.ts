import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../platform/values/clock';
import { InvalidationFeed } from '../../platform/invalidation/invalidation-feed';
import { InvalidatingCache } from '../../platform/invalidation/invalidating-cache';
import { PATH_NAME } from '../../platform/values/text/path-name';
import { compileContract, type ContractCheck } from './domain/event-contract';
import type { EventTypeVersion } from './entities/event-type-version.entity';
import { EventTypeRepository } from './event-type.repository';

/** A registered event type, ready to check properties with. */
export interface Contract {
  readonly version: number;
  readonly isDeprecated: boolean;
  readonly check: ContractCheck;
}

type InForce = Omit<Contract, 'check'>;

const EVENT_TYPES_MAX = 10_000;
/**
 * Compiled contracts of one node, by what they take: about five times their definition's text, and some kilobytes of
 * Ajv's own. That is some thousand usual ones, or sixty of the largest that can be registered.
 */
const CONTRACTS_BYTES_MAX = 64 * 1024 * 1024;
const BYTES_PER_CHARACTER = 5;
const CONTRACT_BYTES = 16 * 1024;

/**
 * What is in force for the events of each type (contract section 4). Which version that is, is remembered until any
 * node changes it; a version never changes, so its contract is compiled once on each node and kept while there is room.
 */
@Injectable()
export class EventTypeContracts {
  private readonly inForce: InvalidatingCache<InForce | 'unregistered'>;
  private readonly checks = new LRUCache<string, { readonly check: ContractCheck; readonly bytes: number }>({
    maxSize: CONTRACTS_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });

  constructor(
    private readonly types: EventTypeRepository,
    feed: InvalidationFeed,
    clock: Clock,
  ) {
    this.inForce = new InvalidatingCache(feed, clock, EVENT_TYPES_MAX);
  }

  /** Undefined when `eventType` could not be the name of one. */
  async find(tenantId: string, eventType: unknown): Promise<Contract | 'unregistered' | undefined> {
    if (typeof eventType !== 'string' || !PATH_NAME.test(eventType)) return undefined;
    const key = `${tenantId}/${eventType}`;
    const inForce = this.inForce.recall(key) ?? (await this.learn(key, tenantId, eventType));
    if (inForce === 'unregistered') return inForce;
    const { version } = inForce;
    const check =
      this.checks.get(`${key}/${version}`)?.check ??
      this.compile(await this.types.version(tenantId, eventType, version));
    return { ...inForce, check };
  }

  private learn(key: string, tenantId: string, eventType: string): Promise<InForce | 'unregistered'> {
    return this.inForce.learn(key, async () => {
      const [type, latest] = await Promise.all([
        this.types.find(tenantId, eventType),
        this.types.latest(tenantId, eventType),
      ]);
      if (latest !== null) this.compile(latest);
      const value =
        latest === null
          ? 'unregistered'
          : { version: latest.version, isDeprecated: (type?.deprecatedAt ?? null) !== null };
      return { value, subject: { tenantId, kind: 'event_type', id: eventType } };
    });
  }

  /** Once for each version, as long as there is room. */
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
