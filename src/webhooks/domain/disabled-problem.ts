import type { Problem } from '../../review/domain/review-entry';
import { FAILING_DAYS_MAX, type DisabledReason } from './webhook';

/** The review entry of an endpoint that was disabled without a request. */
export function disabledProblem(
  {
    tenantId,
    endpointId,
    reason,
  }: { readonly tenantId: string; readonly endpointId: string; readonly reason: DisabledReason },
  at: number,
): Problem {
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
