import { isObject } from '../../platform/values/json/is-object';
import { ApiProperty } from '@nestjs/swagger';
import type { Fault } from '../../platform/errors/fault';
import { FaultDto } from '../../platform/errors/problem-details.dto';
import type { SchemaObject } from '../../platform/http/openapi/open-api-schema';
import type { Steps } from '../../platform/values/time-slice';
import { depthOf, valueOfBeginning } from '../../platform/values/json/json-text';
import { maskContacts } from '../../platform/privacy/contact-data';
import { propertySteps } from '../../platform/privacy/mask';
import { maskValue, textSteps } from '../../platform/privacy/mask-text';
import { REVIEW_SEVERITIES, REVIEW_STAGES, REVIEW_STATUSES } from '../domain/review-entry';
import type { ReviewEntry } from '../entities/review-entry.entity';

/** Swagger has no word for any JSON value at all. */
const ANY_VALUE: SchemaObject[] = [
  { type: 'object', additionalProperties: true, nullable: true },
  { type: 'array', items: {} },
  ...['string', 'number', 'boolean'].map((type) => ({ type })),
];

const PAYLOAD_STATES = ['whole', 'cut', 'not_kept', 'removed', 'stored'] as const;

/** Something that went wrong, or is odd, with all its occurrences; the payload is masked unless it was asked for unmasked. */
export class ReviewEntryDto {
  id!: string;

  @ApiProperty({ enum: REVIEW_SEVERITIES, enumName: 'ReviewSeverity' })
  severity!: string;

  /** Where on its way the event met trouble. */
  @ApiProperty({ enum: REVIEW_STAGES, enumName: 'ReviewStage' })
  stage!: string;

  /** The first fault's code, else the error's; or the name of the warning. */
  reason!: string;

  message!: string;

  @ApiProperty({ type: [FaultDto] })
  details!: Fault[];

  @ApiProperty({ enum: ['external', 'cdp'] })
  family!: string;

  source!: string | null;

  externalEventId!: string | null;

  eventType!: string | null;

  /**
   * What was sent: a JSON value, or the text of a body that is no JSON.
   * @example { "source": "shop.orders", "external_event_id": "order-4711", "type": "purchase", "identity": {} }
   */
  @ApiProperty({ anyOf: ANY_VALUE })
  payload!: unknown;

  /**
   * What is kept of it: `whole`; `cut`, its beginning, because it is too large to be replayed; `not_kept`, nothing, because the
   * workspace had used up its bytes of the day and what goes wrong is only counted; `removed`, nothing any more, because its time
   * was over or it named a person who was erased; `stored`, nothing, because the event itself is stored (`eventId`).
   */
  @ApiProperty({ enum: PAYLOAD_STATES, enumName: 'ReviewPayloadState' })
  payloadState!: string;

  /**
   * Only the beginning of the payload is shown: in lists 4,096 characters, at the entry's own address 262,144. What a replay
   * sends is whole.
   */
  payloadTruncated?: true;

  /** The stored event that the entry is about. */
  eventId?: string;

  occurrences!: number;

  firstSeenAt!: Date;

  lastSeenAt!: Date;

  @ApiProperty({ enum: REVIEW_STATUSES, enumName: 'ReviewStatus' })
  status!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  resolution!: Record<string, unknown> | null;

  /**
   * In steps of bounded work. `personal`: the properties that the event's type declares as personal data; null shows
   * everything. `isCut`: the payload is a beginning.
   */
  static *of(entry: ReviewEntry, personal: ReadonlySet<string> | null, isCut = false): Steps<ReviewEntryDto> {
    const { id, severity, stage, reason, message, details, family, source, externalEventId, eventType } = entry;
    const { occurrences, firstSeenAt, lastSeenAt, status, resolution } = entry;
    return {
      ...{ id, severity, stage, reason, message, details, family, source, externalEventId, eventType },
      payload: yield* shownPayload(entry, personal, isCut),
      payloadState: payloadStateOf(entry),
      ...(isCut ? { payloadTruncated: true } : {}),
      ...(entry.eventId !== null && isStored(entry) ? { eventId: entry.eventId } : {}),
      ...{ occurrences, firstSeenAt, lastSeenAt, status },
      resolution: personal === null ? resolution : shownResolution(resolution),
    };
  }
}

export class ReviewPageDto {
  items!: ReviewEntryDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}

function payloadStateOf({ stage, payload, payloadState }: ReviewEntry): (typeof PAYLOAD_STATES)[number] {
  if (stage === 'processing') return 'stored';
  if (payload === null) return payloadState === 'not_kept' ? 'not_kept' : 'removed';
  return payloadState ?? 'whole';
}

/** A refused event has no record that its id would lead to. */
function isStored({ severity, stage, status }: ReviewEntry): boolean {
  return severity === 'warning' || stage === 'processing' || status === 'superseded' || status === 'replayed';
}

/** The one text in it that somebody has written by hand. */
function shownResolution(resolution: ReviewEntry['resolution']): ReviewEntry['resolution'] {
  if (resolution === null || typeof resolution['note'] !== 'string') return resolution;
  return { ...resolution, note: maskContacts(resolution['note']) };
}

function* shownPayload(entry: ReviewEntry, personal: ReadonlySet<string> | null, isCut: boolean): Steps<unknown> {
  const { payload, payloadForm, family, details } = entry;
  if (payload === null) return null;
  yield undefined;
  // As a value, a number that cannot be kept would be shown as another one, and what is very deep could not be written.
  const asText = payloadForm === 'text' || details.some(({ code }) => code === 'range');
  if (asText || depthOf(payload) > SHOWN_DEPTH_MAX) {
    return personal === null ? payload : yield* textSteps(payload, personal);
  }
  const value: unknown = isCut ? (valueOfBeginning(payload) ?? null) : JSON.parse(payload);
  if (personal === null) return value;
  yield undefined;
  return yield* propertySteps(yield* withUnknownFieldsHidden(value, family), personal);
}

/**
 * Nothing tells what stands in a field that no event has: it may be an identity whose name is misspelt. Looks at an event,
 * a list of them, or a batch, and no deeper.
 */
function* withUnknownFieldsHidden(payload: unknown, family: string): Steps<unknown> {
  const known = KNOWN_FIELDS.get(family) ?? new Set<string>();
  if (Array.isArray(payload)) return yield* eventsWithKnownFields(payload, known);
  if (!isObject(payload) || !Array.isArray(payload['items'])) return yield* eventWithKnownFields(payload, known);
  const { items, ...others } = payload;
  const shown = (yield* eventWithKnownFields(others, known)) as object;
  return { ...shown, items: yield* eventsWithKnownFields(items as unknown[], known) };
}

function* eventsWithKnownFields(events: readonly unknown[], known: ReadonlySet<string>): Steps<unknown[]> {
  const shown: unknown[] = [];
  for (const event of events) {
    shown.push(yield* eventWithKnownFields(event, known));
    if (shown.length % FIELDS_PER_STEP === 0) yield undefined;
  }
  return shown;
}

function* eventWithKnownFields(event: unknown, known: ReadonlySet<string>): Steps<unknown> {
  if (!isObject(event)) return event;
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(event)) {
    fields.push([name, known.has(name) || value === null ? value : maskValue(value)]);
    if (fields.length % FIELDS_PER_STEP === 0) yield undefined;
  }
  return Object.fromEntries(fields);
}

/** Deeper payloads are shown as their text. No body that is taken is deeper. */
const SHOWN_DEPTH_MAX = 64;
/** Fields, or events, after which the work can be interrupted; each costs a microsecond or two. */
const FIELDS_PER_STEP = 256;

const KNOWN_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['external', new Set(['source', 'external_event_id', 'type', 'occurred_at', 'identity', 'attributes'])],
  ['cdp', new Set(['source', 'externalEventId', 'eventType', 'occurredAt', 'identity', 'properties'])],
]);
