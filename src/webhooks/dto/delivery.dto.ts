import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../../platform/pagination/page.query';
import {
  ATTEMPT_OUTCOMES,
  DELIVERY_STATES,
  FAILURE_REASONS,
  type Attempt,
  type AttemptOutcome,
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

  /** The first 1,000 characters. */
  @ApiProperty({ example: '' })
  answer!: string;

  @ApiProperty({ type: 'integer', example: 120 })
  durationMs!: number;

  static of({ at, outcome, status, answer, durationMs }: Attempt): AttemptDto {
    return { at: new Date(at), outcome, status, answer, durationMs };
  }
}

/** What became of an event at an endpoint. */
export class DeliveryDto {
  /** The event's id, which is the `webhook-id` of every attempt. */
  id!: string;

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

  static of({ eventId, state, reason, attemptCount, attempts, createdAt, doneAt }: WebhookDelivery): DeliveryDto {
    const shown = attempts.map((attempt) => AttemptDto.of(attempt));
    return { id: eventId, state, reason, attemptCount, attempts: shown, createdAt, doneAt };
  }
}

export class DeliveryPageDto {
  items!: DeliveryDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
