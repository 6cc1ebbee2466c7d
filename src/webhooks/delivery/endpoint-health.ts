import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { Problem } from '../../review/domain/review-entry';
import { ReviewService } from '../../review/review.service';
import { FAILING_DAYS_MAX, GONE_STATUS, type DisabledReason } from '../domain/webhook';
import { DISABLE_ENDPOINTS, RECORD_HEALTH } from './delivery.sql';
import type { DeliveryResult } from './delivery-result';

interface Health {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly works: boolean;
  readonly isGone: boolean;
  /** As they were when the call was made. */
  readonly url: string;
  readonly enabledAt: Date | null;
}

/** An endpoint that was disabled without a request. */
interface DisabledEndpoint {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly reason: DisabledReason;
}

/** Whether endpoints take anything, and since when they do not. */
@Injectable()
export class EndpointHealth {
  constructor(private readonly review: ReviewService) {}

  /** Stores what results say about their endpoints, with the caller's COMMIT. Disables those that cannot be used. */
  async record(transaction: Transaction, results: readonly DeliveryResult[], now: Date): Promise<void> {
    const attempted = results.filter(({ attempt }) => attempt !== null);
    const endpoints = healthOf(attempted);
    if (endpoints.length === 0) return;
    const ids = [endpoints.map(({ tenantId }) => tenantId), endpoints.map(({ endpointId }) => endpointId)];
    transaction.sendLast(RECORD_HEALTH, [...ids, endpoints.map(({ works }) => works)]);
    const failing = endpoints.filter(({ works, isGone }) => !works || isGone);
    if (failing.length === 0) return;
    const disabled = await transaction.send<DisabledEndpoint>(DISABLE_ENDPOINTS, [
      failing.map(({ tenantId }) => tenantId),
      failing.map(({ endpointId }) => endpointId),
      failing.map(({ isGone }) => isGone),
      FAILING_DAYS_MAX,
      failing.map(({ url }) => url),
      failing.map(({ enabledAt }) => enabledAt),
    ]);
    const problems = disabled.map((each) => disabledProblem(each, now.getTime()));
    if (problems.length > 0) this.review.recordWithin(transaction, problems);
  }
}

/** What attempts say about their endpoints: whether they took anything, and whether one answered 410. */
function healthOf(attempted: readonly DeliveryResult[]): readonly Health[] {
  const byEndpoint = new Map<string, Health>();
  for (const { delivery, state, attempt } of attempted) {
    const { tenantId, endpointId } = delivery;
    const before = byEndpoint.get(endpointId);
    const works = state === 'delivered' || before?.works === true;
    const isGone = attempt?.status === GONE_STATUS || before?.isGone === true;
    const { url, enabledAt } = before?.isGone === true ? before : delivery.endpoint;
    byEndpoint.set(endpointId, { tenantId, endpointId, works, isGone, url, enabledAt });
  }
  return [...byEndpoint.values()].toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1));
}

/** The review entry of an endpoint that was disabled without a request. */
function disabledProblem({ tenantId, endpointId, reason }: DisabledEndpoint, at: number): Problem {
  const cause = reason === 'gone' ? 'it answered 410 Gone' : `every attempt failed for ${FAILING_DAYS_MAX} days`;
  return {
    tenantId,
    severity: 'error',
    stage: 'processing',
    reason: 'webhook_disabled',
    message:
      `The webhook ${endpointId} was disabled: ${cause}. Its deliveries are kept. ` +
      'Correct the endpoint and enable it, or delete it.',
    details: [],
    family: 'external',
    payload: { form: 'json', text: JSON.stringify({ webhookId: endpointId, at: new Date(at).toISOString() }) },
    at,
  };
}
