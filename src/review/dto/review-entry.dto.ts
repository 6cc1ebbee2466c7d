import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { isObject } from '../../platform/values/json/json-values';
import type { Fault } from '../../platform/errors/fault';
import { FaultDto } from '../../platform/errors/problem-details.dto';
import type { SchemaObject } from '../../platform/http/openapi/open-api-schema';
import type { Steps } from '../../platform/values/time-slice';
import { ExactNumbers } from '../../platform/values/json/exact-numbers';
import { depthOf, readableValueOf, valueOfBeginning } from '../../platform/values/json/json-text';
import { maskContacts } from '../../platform/privacy/contact-data';
import { propertySteps } from '../../platform/privacy/mask';
import { maskValue, textSteps } from '../../platform/privacy/mask-text';
import { REVIEW_SEVERITIES, REVIEW_STAGES, REVIEW_STATUSES, type ReviewStatus } from '../domain/review-entry';
import type { ReviewEntry } from '../entities/review-entry.entity';

/** Any JSON value. OpenAPI 3.0 has no shorter form. */
const ANY_VALUE: SchemaObject[] = [
  { type: 'object', additionalProperties: true, nullable: true },
  { type: 'array', items: {} },
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
];

const PAYLOAD_STATES = ['whole', 'cut', 'not_kept', 'removed', 'stored'] as const;

/** An error or a warning with all its occurrences. The payload is masked, except with `unmask=true`. */
export class ReviewEntryDto {
  id!: string;

  @ApiProperty({ enum: REVIEW_SEVERITIES, enumName: 'ReviewSeverity' })
  severity!: string;

  /** The step of the pipeline where the problem occurred. */
  @ApiProperty({ enum: REVIEW_STAGES, enumName: 'ReviewStage' })
  stage!: string;

  /** The code of the first fault, else the error code; of a warning its name. */
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
   * What the client sent: a JSON value, or the text of a body that is no JSON.
   * @example { "source": "shop.orders", "external_event_id": "order-4711", "type": "purchase", "identity": {} }
   */
  @ApiProperty({ anyOf: ANY_VALUE })
  payload!: unknown;

  /**
   * Which part of the payload is stored. `whole`: all of it. `cut`: its beginning, because it is too large for a
   * replay. `not_kept`: nothing, because the workspace had used up its bytes of the day. `removed`: nothing any more, or
   * only which event it was, because its retention is over or it is about an erased person. `stored`: nothing, because
   * the event itself is stored (`eventId`).
   */
  @ApiProperty({ enum: PAYLOAD_STATES, enumName: 'ReviewPayloadState' })
  payloadState!: string;

  /**
   * `payload` is the beginning only: 4,096 characters in lists, 262,144 in a single entry. A replay sends the whole
   * payload.
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
   * Runs in steps of bounded work. `personal`: the properties that the event type declares as personal data; null shows
   * all values. `isCut`: the entry holds only the beginning of the payload.
   */
  static *of(entry: ReviewEntry, personal: ReadonlySet<string> | null, isCut = false): Steps<ReviewEntryDto> {
    const { id, severity, stage, reason, message, details, family, source, externalEventId, eventType } = entry;
    const { occurrences, firstSeenAt, lastSeenAt, status, resolution } = entry;
    return {
      id,
      severity,
      stage,
      reason,
      message,
      details,
      family,
      source,
      externalEventId,
      eventType,
      payload: yield* shownPayload(entry, personal, isCut),
      payloadState: payloadStateOf(entry),
      ...(isCut ? { payloadTruncated: true } : {}),
      ...(entry.eventId !== null && isStored(entry) ? { eventId: entry.eventId } : {}),
      occurrences,
      firstSeenAt,
      lastSeenAt,
      status,
      resolution: personal === null ? resolution : shownResolution(resolution),
    };
  }
}

export class ReviewPageDto {
  /** With filters that hardly any entry matches a page can be short, or empty, although there are more. */
  items!: ReviewEntryDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}

/** A note is shown with its entry. */
export const DISMISSAL_NOTE_CHARACTERS_MAX = 1_000;

export class DismissDto {
  /**
   * Why the entry needs no action.
   * @example "Test data of the agency"
   */
  @IsOptional()
  @IsString()
  @MaxLength(DISMISSAL_NOTE_CHARACTERS_MAX)
  note?: string;
}

function payloadStateOf({ stage, eventId, payload, payloadState }: ReviewEntry): (typeof PAYLOAD_STATES)[number] {
  if (stage === 'processing' && eventId !== null) return 'stored';
  if (payload === null) return payloadState === 'not_kept' ? 'not_kept' : 'removed';
  return payloadState ?? 'whole';
}

/**
 * Whether the event of an entry is stored. The id of a refused event leads to no record, so that views leave it out.
 */
function isStored({ severity, stage, status }: ReviewEntry): boolean {
  return severity === 'warning' || stage === 'processing' || IS_STORED_BY_STATUS[status];
}

const IS_STORED_BY_STATUS: Readonly<Record<ReviewStatus, boolean>> = {
  open: false,
  dismissed: false,
  replayed: true,
  superseded: true,
};

/** Masks the note, the only text of a resolution that a person writes. */
function shownResolution(resolution: ReviewEntry['resolution']): ReviewEntry['resolution'] {
  if (resolution === null || typeof resolution['note'] !== 'string') return resolution;
  return { ...resolution, note: maskContacts(resolution['note']) };
}

function* shownPayload(entry: ReviewEntry, personal: ReadonlySet<string> | null, isCut: boolean): Steps<unknown> {
  const { payload, payloadForm, family, details } = entry;
  if (payload === null) return null;
  yield undefined;
  // Show the text if the value would differ: a number that a double cannot hold, or a value too deep for
  // JSON.stringify.
  if (payloadForm === 'text' || depthOf(payload) > SHOWN_DEPTH_MAX) {
    return personal === null ? payload : yield* maskedText(payload, personal, family);
  }
  if (details.some(({ code }) => code === 'range')) {
    return personal === null ? payload : yield* exactText(payload, personal, family, isCut);
  }
  const value = valueOf(payload, isCut);
  if (personal === null) return value;
  yield undefined;
  return yield* maskedPayload(value, family, personal);
}

/** Text that is no JSON, or cannot be shown as such. As far as it is JSON, fields that no event has are hidden as well. */
function* maskedText(text: string, personal: ReadonlySet<string>, family: string): Steps<string> {
  const payload = withoutBytesBetween(text);
  const unknown = unknownFieldsOf(readableValueOf(payload), family);
  yield undefined;
  return yield* textSteps(payload, new Set([...personal, ...unknown]));
}

const NO_CHARACTER = '\\u0000';

/** The letters of a body in UTF-16, which has the escape of U+0000 beside each: names could not be recognised. */
function withoutBytesBetween(text: string): string {
  const pieces = text.split(NO_CHARACTER);
  return pieces.length * 2 * NO_CHARACTER.length > text.length ? pieces.join('') : text;
}

function valueOf(payload: string, isCut: boolean): unknown {
  return isCut ? (valueOfBeginning(payload) ?? null) : (JSON.parse(payload) as unknown);
}

/** The masked payload as JSON text, with its numbers as they were sent. */
function* exactText(payload: string, personal: ReadonlySet<string>, family: string, isCut: boolean): Steps<string> {
  const numbers = new ExactNumbers();
  const value = valueOf(numbers.withMarks(payload), isCut);
  yield undefined;
  return numbers.textOf(yield* maskedPayload(value, family, personal));
}

/** The names of fields that no event has, of an event, a list of events, or a batch. */
function unknownFieldsOf(payload: unknown, family: string): string[] {
  const known = KNOWN_FIELDS.get(family) ?? new Set<string>();
  const items: unknown = isObject(payload) ? payload['items'] : payload;
  const events = [payload, ...(Array.isArray(items) ? (items as unknown[]) : [])];
  const names = events.flatMap((event) => (isObject(event) ? Object.keys(event) : []));
  return names.filter((name) => name !== 'items' && !known.has(name));
}

/**
 * A payload without its personal data. Keeps the order of members at every depth: a correction finds the hidden names
 * by it.
 */
export function* maskedPayload(value: unknown, family: string, personal: ReadonlySet<string>): Steps<unknown> {
  return yield* propertySteps(yield* withUnknownFieldsHidden(value, { family, personal }), personal);
}

/** What tells how a payload is masked. */
interface EventView {
  readonly family: string;
  readonly personal: ReadonlySet<string>;
}

/**
 * Masks fields that no event has: such a field may be an identity with a misspelt name. Handles an event, a list of
 * events, or a batch, and goes no deeper. Each of them may be JSON within a JSON string: clients encode twice by mistake.
 */
function* withUnknownFieldsHidden(payload: unknown, view: EventView): Steps<unknown> {
  if (Array.isArray(payload)) return yield* eventsWithKnownFields(payload, view);
  const shown = yield* eventWithKnownFields(payload, view);
  if (!isObject(payload) || !Array.isArray(payload['items'])) return shown;
  return { ...(shown as object), items: yield* eventsWithKnownFields(payload['items'] as unknown[], view) };
}

function* eventsWithKnownFields(events: readonly unknown[], view: EventView): Steps<unknown[]> {
  const shown: unknown[] = [];
  for (const event of events) {
    shown.push(yield* eventWithKnownFields(event, view));
    if (shown.length % FIELDS_PER_STEP === 0) yield undefined;
  }
  return shown;
}

function* eventWithKnownFields(event: unknown, { family, personal }: EventView): Steps<unknown> {
  if (typeof event === 'string') return yield* maskedText(event, personal, family);
  if (!isObject(event)) return event;
  const known = KNOWN_FIELDS.get(family) ?? new Set<string>();
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'string' && FREE_FORM_FIELDS.has(name)) fields.push([name, yield* textSteps(value, personal)]);
    else fields.push([name, known.has(name) || value === null ? value : maskValue(value)]);
    if (fields.length % FIELDS_PER_STEP === 0) yield undefined;
  }
  return Object.fromEntries(fields);
}

/** A deeper payload is shown as its text. No accepted body is deeper. */
const SHOWN_DEPTH_MAX = 64;
/** The work can pause after this many fields or events; each takes one or two microseconds. */
const FIELDS_PER_STEP = 256;

const FREE_FORM_FIELDS: ReadonlySet<string> = new Set(['attributes', 'properties']);

/** The fields of an event in each family; what stands elsewhere may be anything and is masked. */
export const KNOWN_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['external', new Set(['source', 'external_event_id', 'type', 'occurred_at', 'identity', 'attributes'])],
  ['cdp', new Set(['source', 'externalEventId', 'eventType', 'occurredAt', 'identity', 'properties'])],
]);
