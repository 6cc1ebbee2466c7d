import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { describeFaults } from '../platform/errors/describe-faults';
import { DomainError } from '../platform/errors/domain-error';
import type { Fault } from '../platform/errors/fault';
import { unavailable } from '../platform/errors/unavailable';
import { OpenTransactions } from '../platform/postgres/distribution/open-transactions';
import { Clock } from '../platform/values/clock';
import type { VariableDefinition } from './domain/define-variable';
import { periodAt } from './domain/period';
import type { ValueRules } from './domain/variable';
import { StoredValueCounter } from './stored-value-counter';

/** A mutation's statements time out sooner; another transaction of the installation may take longer. */
const MUTATIONS_END_MS_MAX = 5_000;
const POLL_MS = 20;

/** The rules of a variable, of a definition or a stored declaration. */
type CheckedRules = Pick<VariableDefinition, 'scope' | 'name'> & {
  readonly [Rule in keyof ValueRules]: ValueRules[Rule] | null;
};

/** Finds stored values that new limits would leave outside (docs/adr/0064). */
@Injectable()
export class LimitsCheck {
  constructor(
    private readonly counter: StoredValueCounter,
    private readonly transactions: OpenTransactions,
    private readonly clock: Clock,
  ) {}

  /** Throws `limit_reached` with the number of values. */
  async assertNoneOutside(
    tenantId: string,
    campaignId: string,
    { scope, name, min, max, period }: CheckedRules,
  ): Promise<void> {
    const { belowMin, aboveMax } = await this.counter.countOutside(tenantId, {
      campaignId,
      scope,
      name,
      limits: { min: min ?? undefined, max: max ?? undefined },
      periodStart: period ? periodAt(period, this.clock.now().getTime()).start : undefined,
    });
    const details = [...outsideFaults('min', belowMin), ...outsideFaults('max', aboveMax)];
    if (details.length > 0) throw new DomainError('limit_reached', describeFaults(details), { details });
  }

  /**
   * Resolves when every mutation of the workspace has ended that may have read the declarations before this call. Throws
   * `unavailable` after 5 seconds.
   */
  async untilMutationsEnded(tenantId: string): Promise<void> {
    const deadline = this.clock.monotonicMs() + MUTATIONS_END_MS_MAX;
    // Else the newest of them, which no ended one follows, would not be listed.
    await this.transactions.takeNumber(tenantId);
    for (let open = await this.transactions.of(tenantId); open.length > 0;) {
      if (this.clock.monotonicMs() > deadline) throw unavailable();
      await setTimeout(POLL_MS);
      const now = new Set(await this.transactions.of(tenantId));
      open = open.filter((id) => now.has(id));
    }
  }
}

function outsideFaults(path: 'min' | 'max', count: number): Fault[] {
  if (count === 0) return [];
  const side = path === 'min' ? 'less' : 'greater';
  const message = `Stored values that are ${side} than ${path}: ${count}. Change them first, or choose another limit.`;
  return [{ path, code: 'limit_reached', message }];
}
