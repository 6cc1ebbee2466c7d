/** Bytes in UTF-8 (contract section 15). */
const BODY_BYTES_MAX = 20_000;

/** What a body is about, by the advice of Standard Webhooks. */
interface BodyHead {
  /** With a prefix for its kind, so that no name of a client looks like another kind of call. */
  readonly type: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

/**
 * The text of a body: `{type, timestamp, data}`. `data` is `reference` and `content`; over 20 KB it comes without the
 * content, with `isReference: true`.
 */
export function bodyText(head: BodyHead, reference: object, content: object): string {
  const whole = textOf(head, { ...reference, ...content });
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return whole;
  return textOf(head, { ...reference, isReference: true });
}

/** The body of a test call; it holds nothing of any customer. */
export function testBody(endpointId: string, at: Date): string {
  return textOf({ type: 'webhook.test', timestamp: at.toISOString() }, { webhookId: endpointId });
}

function textOf({ type, timestamp }: BodyHead, data: object): string {
  return JSON.stringify({ type, timestamp, data });
}
