import { ApiProperty } from '@nestjs/swagger';
import type { Fault } from '../../../platform/errors/fault';
import { FaultDto } from '../../../platform/errors/problem-details.dto';
import type { EventTypeCheckResult } from '../domain/event-type-sample';

const OUTCOMES = Object.keys({
  new: true,
  identical: true,
  compatible: true,
  breaking: true,
} satisfies Record<EventTypeCheckResult['outcome'], true>);

/** A fault of events of the sample. */
export class SampleReasonDto {
  /**
   * The `details[].code` that such an event would be refused with.
   * @example "type"
   */
  code!: string;

  /** @example "properties.amount" */
  path!: string;

  /** The number of events of the sample with this fault. */
  count!: number;
}

export class EventTypeSampleDto {
  /** @example 1000 */
  checked!: number;

  /** @example 999 */
  pass!: number;

  fail!: number;

  /** The most frequent first, at most 100. An event may have several. */
  reasons!: SampleReasonDto[];
}

/** What registering a definition would do. */
export class EventTypeTrialDto {
  /** `breaking`: the registration would be refused without `force`. */
  @ApiProperty({ enum: OUTCOMES })
  outcome!: EventTypeCheckResult['outcome'];

  /**
   * Each change that breaks; empty unless `breaking`.
   * @example []
   */
  @ApiProperty({ type: [FaultDto] })
  breaks!: Fault[];

  /**
   * The check of the newest 1,000 stored and refused events of the type against the definition. Absent unless the API
   * key also has the scope `events:read`. Personal properties are skipped: those that are `pii` in any version or in
   * this definition, and what views mask as contact data.
   */
  sample?: EventTypeSampleDto;

  static of({ outcome, breaks, sample }: EventTypeCheckResult): EventTypeTrialDto {
    const answer = { outcome, breaks: [...breaks] };
    return sample === undefined ? answer : { ...answer, sample: { ...sample, reasons: [...sample.reasons] } };
  }
}
