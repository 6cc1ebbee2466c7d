import { randomBytes } from 'node:crypto';
import { signedHeaders } from '../../webhooks/delivery/signed-headers';
import { bodyOfRecord } from '../../webhooks/domain/event-body';
import { makeSecret } from '../../webhooks/domain/standard-webhooks';
import { ATTEMPT_MS_MAX } from '../../webhooks/domain/webhook';
import type { ExportedEvent } from '../events/export/event-output';
import { fieldsOf } from '../foreign-data';

/** What became of a call. */
export interface Forwarded {
  readonly isTaken: boolean;
  /** A status, or why there was none. */
  readonly answer: string;
  readonly durationMs: number;
}

/** Posts calls as the service does: the same body, headers and signature. */
export class Forwarder {
  readonly secret: string;

  constructor(
    readonly url: string,
    secret: string | undefined,
    private readonly now: () => Date,
  ) {
    this.secret = secret ?? makeSecret('hmac-sha256', randomBytes).secret;
  }

  /** Never throws: a call that fails is a result. `stop` ends it early. */
  async forward(id: string, body: string, stop: AbortSignal): Promise<Forwarded> {
    const headers = signedHeaders(id, this.now(), body, [this.secret]);
    const startedAt = performance.now();
    const result = await this.post(body, headers, stop);
    return { ...result, durationMs: Math.round(performance.now() - startedAt) };
  }

  private async post(
    body: string,
    headers: Readonly<Record<string, string>>,
    stop: AbortSignal,
  ): Promise<Pick<Forwarded, 'isTaken' | 'answer'>> {
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([stop, AbortSignal.timeout(ATTEMPT_MS_MAX)]),
      });
      await response.body?.cancel();
      return { isTaken: response.ok, answer: String(response.status) };
    } catch (error) {
      return { isTaken: false, answer: `no answer (${reasonOf(error)})` };
    }
  }
}

/** The body of a call about an event. `processing` is no part of it. */
export function eventBodyOf(event: ExportedEvent): string {
  const { eventId, family, source, externalEventId, eventType, eventTypeVersion } = event;
  const { occurredAt, receivedAt, profileId, identity, properties } = event;
  return bodyOfRecord({
    eventId,
    family,
    source,
    externalEventId,
    eventType,
    eventTypeVersion,
    occurredAt,
    receivedAt,
    profileId,
    identity,
    properties,
  });
}

function reasonOf(error: unknown): string {
  const { name, cause } = fieldsOf(error);
  if (name === 'TimeoutError') return `none within ${ATTEMPT_MS_MAX / 1_000} s`;
  const { code } = fieldsOf(cause);
  return typeof code === 'string' ? code : 'the connection failed';
}
