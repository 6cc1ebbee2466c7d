import { ApiProperty } from '@nestjs/swagger';
import type { Fault } from '../../../platform/errors/fault';
import { FaultDto } from '../../../platform/errors/problem-details.dto';
import type { EventTypeCheckResult } from '../event-type-check';

/** Something that is wrong with events of the sample. */
export class SampleReasonDto {
  /**
   * The `details[].code` that such an event would be refused with.
   * @example "type"
   */
  code!: string;

  /** @example "properties.amount" */
  path!: string;

  /** So many events of the sample have it. */
  count!: number;
}

export class EventTypeSampleDto {
  /** @example 1000 */
  checked!: number;

  /** @example 999 */
  pass!: number;

  fail!: number;

  /** The most frequent first, at most 100; an event may have several. */
  reasons!: SampleReasonDto[];
}

/** What registering a definition would do. */
export class EventTypeTrialDto {
  /** `breaking`: it would be refused, unless forced. */
  @ApiProperty({ enum: ['new', 'identical', 'compatible', 'breaking'] })
  outcome!: string;

  /**
   * What would break; empty unless `breaking`.
   * @example []
   */
  @ApiProperty({ type: [FaultDto] })
  breaks!: Fault[];

  /**
   * What the definition would have said to the newest 1,000 stored and refused events of its type. Left out unless the API key
   * also has the scope `events:read`. Personal properties are not judged: those that are `pii` in any version or in this
   * definition, and what views mask as contact data.
   */
  sample?: EventTypeSampleDto;

  static of({ outcome, breaks, sample }: EventTypeCheckResult): EventTypeTrialDto {
    const answer = { outcome, breaks: [...breaks] };
    return sample === undefined ? answer : { ...answer, sample: { ...sample, reasons: [...sample.reasons] } };
  }
}
