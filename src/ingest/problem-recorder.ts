import { Injectable } from '@nestjs/common';
import { ErasedPersons } from '../identity/erased-persons';
import type { Problem } from '../review/domain/review-entry';
import { ReviewService } from '../review/review.service';

/** A problem to record; what is kept of it depends on whether one of the identities in it is an erased person's. */
export interface FoundProblem {
  /** As clients wrote them. */
  readonly identities: readonly unknown[];
  readonly describe: (namesErased: boolean) => Problem;
}

/** Records problems in the review area, without what they say of erased persons. */
@Injectable()
export class ProblemRecorder {
  constructor(
    private readonly review: ReviewService,
    private readonly erased: ErasedPersons,
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
      return problem === undefined || named[index] === namedNow[index] ? [] : { problem, kept: describe(true).payload };
    });
    await this.review.replacePayloads(tenantId, stripped);
    return problems;
  }

  /** For each problem, whether it names a person who is erased, or is being erased. */
  private async nameErased(tenantId: string, found: readonly FoundProblem[]): Promise<readonly boolean[]> {
    const named = await this.erased.areNamedIn(
      tenantId,
      found.flatMap(({ identities }) => identities),
    );
    let next = 0;
    return found.map(({ identities }) => named.slice(next, (next += identities.length)).includes(true));
  }
}
