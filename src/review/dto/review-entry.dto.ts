import { isObject } from '../../platform/json/is-object';
import { ApiProperty } from '@nestjs/swagger';
import type { Fault } from '../../platform/errors/fault';
import { FaultDto } from '../../platform/errors/problem-details.dto';
import type { SchemaObject } from '../../platform/http/open-api-schema';
import { valueOfBeginning } from '../../platform/json/json-text';
import { maskContacts, maskProperties, maskText, maskValue } from '../../platform/masking/mask';
import { REVIEW_SEVERITIES, REVIEW_STAGES, REVIEW_STATUSES } from '../domain/review-entry';
import type { ReviewEntry } from '../entities/review-entry.entity';

/** Swagger has no word for any JSON value at all. */
const ANY_VALUE: SchemaObject[] = [
  { type: 'object', additionalProperties: true, nullable: true },
  { type: 'array', items: {} },
  ...['string', 'number', 'boolean'].map((type) => ({ type })),
];

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

  /** In lists: only the beginning of the payload is shown; the entry's own address shows it whole. */
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
   * `personal`: the properties that the event's type declares as personal data; null shows everything. `isCut`: the payload
   * is a beginning.
   */
  static of(entry: ReviewEntry, personal: ReadonlySet<string> | null, isCut = false): ReviewEntryDto {
    const { id, severity, stage, reason, message, details, family, source, externalEventId, eventType } = entry;
    const { occurrences, firstSeenAt, lastSeenAt, status, resolution } = entry;
    return {
      ...{ id, severity, stage, reason, message, details, family, source, externalEventId, eventType },
      payload: shownPayload(entry, personal, isCut),
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

/** A refused event has no record that its id would lead to. */
function isStored({ severity, stage, status }: ReviewEntry): boolean {
  return severity === 'warning' || stage === 'processing' || status === 'superseded' || status === 'replayed';
}

/** The one text in it that somebody has written by hand. */
function shownResolution(resolution: ReviewEntry['resolution']): ReviewEntry['resolution'] {
  if (resolution === null || typeof resolution['note'] !== 'string') return resolution;
  return { ...resolution, note: maskContacts(resolution['note']) };
}

function shownPayload(entry: ReviewEntry, personal: ReadonlySet<string> | null, isCut: boolean): unknown {
  const { payload, payloadForm, family, details } = entry;
  if (payload === null) return null;
  // As a value, a number that cannot be kept would be shown as another one.
  if (payloadForm === 'text' || details.some(({ code }) => code === 'range')) {
    return personal === null ? payload : maskText(payload, personal);
  }
  const value: unknown = isCut ? (valueOfBeginning(payload) ?? null) : JSON.parse(payload);
  return personal === null ? value : maskProperties(withUnknownFieldsHidden(value, family), personal);
}

/**
 * Nothing tells what stands in a field that no event has: it may be an identity whose name is misspelt. Looks at an event,
 * a list of them, or a batch, and no deeper.
 */
function withUnknownFieldsHidden(payload: unknown, family: string): unknown {
  const known = KNOWN_FIELDS.get(family) ?? new Set<string>();
  if (Array.isArray(payload)) return payload.map((entry: unknown) => eventWithKnownFields(entry, known));
  if (!isObject(payload) || !Array.isArray(payload['items'])) return eventWithKnownFields(payload, known);
  const items = payload['items'].map((item: unknown) => eventWithKnownFields(item, known));
  return { ...(eventWithKnownFields(payload, known) as object), items };
}

function eventWithKnownFields(event: unknown, known: ReadonlySet<string>): unknown {
  if (!isObject(event)) return event;
  const fields = Object.entries(event).map(([name, value]): [string, unknown] => [
    name,
    known.has(name) || value === null ? value : maskValue(value),
  ]);
  return Object.fromEntries(fields);
}

const KNOWN_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['external', new Set(['source', 'external_event_id', 'type', 'occurred_at', 'identity', 'attributes'])],
  ['cdp', new Set(['source', 'externalEventId', 'eventType', 'occurredAt', 'identity', 'properties'])],
]);
