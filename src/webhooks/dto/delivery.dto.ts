import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../../platform/pagination/page.query';
import { textSteps } from '../../platform/privacy/mask-text';
import type { Steps } from '../../platform/values/time-slice';
import {
  ATTEMPT_OUTCOMES,
  DELIVERY_KINDS,
  DELIVERY_STATES,
  FAILURE_REASONS,
  type Attempt,
  type AttemptOutcome,
  type DeliveryKind,
  type DeliveryState,
  type FailureReason,
} from '../domain/webhook';
import type { WebhookDelivery } from '../entities/webhook-delivery.entity';

export class DeliveryQuery extends PageQuery {
  /** What became of them. */
  @IsOptional()
  @IsIn(DELIVERY_STATES)
  @ApiPropertyOptional({ enum: DELIVERY_STATES })
  state?: DeliveryState;
}

/** One attempt to send an event. */
export class AttemptDto {
  at!: Date;

  @ApiProperty({ enum: ATTEMPT_OUTCOMES })
  outcome!: AttemptOutcome;

  /** Null: there was no answer. */
  @ApiProperty({ type: 'integer', nullable: true, example: 204 })
  status!: number | null;

  /** The first 1,000 characters; in lists with personal data masked. */
  @ApiProperty({ example: '' })
  answer!: string;

  @ApiProperty({ type: 'integer', example: 120 })
  durationMs!: number;

  static of({ at, outcome, status, answer, durationMs }: Attempt): AttemptDto {
    return { at: new Date(at), outcome, status, answer, durationMs };
  }
}

/** What became of an event, or of a change of a value, at an endpoint. */
export class DeliveryDto {
  /** The id of the event, or of the change: the `webhook-id` of every attempt. */
  id!: string;

  /** What is sent. */
  @ApiProperty({ enum: DELIVERY_KINDS, example: 'event' })
  kind!: DeliveryKind;

  @ApiProperty({ enum: DELIVERY_STATES })
  state!: DeliveryState;

  /** Why it failed. */
  @ApiProperty({ enum: FAILURE_REASONS, nullable: true })
  reason!: FailureReason | null;

  @ApiProperty({ type: 'integer', example: 1 })
  attemptCount!: number;

  /** The last 20, oldest first. */
  @ApiProperty({ type: [AttemptDto] })
  attempts!: AttemptDto[];

  createdAt!: Date;

  /** When it was delivered, or failed. */
  doneAt!: Date | null;

  static of(delivery: WebhookDelivery, attempts = delivery.attempts): DeliveryDto {
    const { eventId, isChange, state, reason, attemptCount, createdAt, doneAt } = delivery;
    const shown = attempts.map((attempt) => AttemptDto.of(attempt));
    return {
      id: eventId,
      kind: isChange ? 'change' : 'event',
      state,
      reason,
      attemptCount,
      attempts: shown,
      createdAt,
      doneAt,
    };
  }

  /**
   * As views show it: a receiver may repeat in its answers what was sent to it unmasked. `personal`: the names of
   * personal properties of all event types. Works in steps.
   */
  static *masked(delivery: WebhookDelivery, personal: ReadonlySet<string>): Steps<DeliveryDto> {
    const attempts: Attempt[] = [];
    for (const attempt of delivery.attempts) {
      attempts.push({ ...attempt, answer: yield* textSteps(attempt.answer, personal) });
    }
    return DeliveryDto.of(delivery, attempts);
  }
}

export class DeliveryPageDto {
  items!: DeliveryDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
