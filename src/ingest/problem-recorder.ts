import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ErasedPersons } from '../identity/erased-persons';
import type { Problem } from '../review/domain/review-entry';
import { ReviewService } from '../review/review.service';
import { ERASED_HASH } from './domain/deduplication';
import type { Event } from './domain/event';
import { deprecationOf } from './domain/review-problems';
import { StoredCopies } from './store/stored-copies';

/** A problem to record; what is kept of it depends on whether it is about an erased person. */
export interface FoundProblem {
  /** As clients wrote them: one may be an erased person's. */
  readonly identities: readonly unknown[];
  /** The stored event that it repeats, which may be an erased person's. */
  readonly copyOf?: string;
  readonly describe: (namesErased: boolean) => Problem;
}

/** Records problems in the review area, without what they say of erased persons. */
@Injectable()
export class ProblemRecorder {
  constructor(
    private readonly review: ReviewService,
    private readonly erased: ErasedPersons,
    private readonly copies: StoredCopies,
  ) {}

  /**
   * Returns the problems as they are kept. An erasure that begins meanwhile may search the review area before they are there, so
   * that erased persons are looked for again behind the commit. Throws `unavailable`.
   */
  async record(tenantId: string, found: readonly FoundProblem[]): Promise<readonly Problem[]> {
    if (found.length === 0) return [];
    const named = await this.nameErased(tenantId, found);
    const problems = found.map(({ describe }, index) => describe(named[index] === true));
    await this.review.record(tenantId, problems);
    const namedNow = await this.nameErased(tenantId, found);
    const stripped = found.flatMap(({ describe }, index) => {
      const problem = problems[index];
      return problem === undefined || named[index] === namedNow[index] ? [] : { problem, kept: describe(true) };
    });
    await this.review.replaceProblems(tenantId, stripped);
    return problems;
  }

  /** For each problem, whether it names a person who is erased, or is being erased, or repeats an event of theirs. */
  private async nameErased(tenantId: string, found: readonly FoundProblem[]): Promise<readonly boolean[]> {
    const named = await this.erased.areNamedIn(
      tenantId,
      found.flatMap(({ identities }) => identities),
    );
    const repeated = found.flatMap(({ copyOf }) => copyOf ?? []);
    const stored = await this.copies.storedAmong(tenantId, [...new Set(repeated)]);
    let next = 0;
    return found.map(({ identities, copyOf = '' }) => {
      const isNamed = named.slice(next, (next += identities.length)).includes(true);
      return isNamed || stored.get(copyOf) === ERASED_HASH;
    });
  }
}

const DEPRECATIONS_REMEMBERED_MAX = 10_000;

/**
 * The deprecated types of which this node has seen the warning of the day committed: further events of such a type are
 * stored without asking the review area again. What is forgotten here is asked for once more; the review area keeps one.
 */
export class RecentDeprecationWarnings {
  private readonly recorded = new LRUCache<string, true>({ max: DEPRECATIONS_REMEMBERED_MAX });

  has(tenantId: string, eventType: string, receivedAt: number): boolean {
    return this.recorded.has(keyOf(tenantId, eventType, receivedAt));
  }

  add({ tenantId, eventType, receivedAt }: Event): void {
    this.recorded.set(keyOf(tenantId, eventType, receivedAt), true);
  }
}

function keyOf(tenantId: string, eventType: string, receivedAt: number): string {
  return [tenantId, ...deprecationOf(eventType, receivedAt)].join('/');
}
