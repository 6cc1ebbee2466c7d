import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsString, MaxLength } from 'class-validator';
import { TIMESTAMP_CHARACTERS_MAX } from '../../../ingest/domain/event';
import { WORK_STATES, type WorkState } from '../../../platform/jobs/work-states';
import type { WebhookReplay } from '../../entities/webhook-replay.entity';
import { WEBHOOK_REPLAY_END_REASONS, type WebhookReplayEndReason } from '../domain/webhook-replay';

/** Which events are delivered: at most 366 days. */
export class StartWebhookReplayDto {
  /** Events received from then on. With an offset or `Z`. */
  @IsDefined()
  @IsString()
  @MaxLength(TIMESTAMP_CHARACTERS_MAX)
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-01T00:00:00Z' })
  from!: string;

  /** And before then. A range ends with the last event received so far: later events are delivered anyway. */
  @IsDefined()
  @IsString()
  @MaxLength(TIMESTAMP_CHARACTERS_MAX)
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-02-01T00:00:00Z' })
  to!: string;
}

export class WebhookReplayStartedDto {
  /** The id for `GET …/replays/{jobId}`, which shows the progress. */
  jobId!: string;
}

/** A replay and its progress. `scanned` is the sum of `queued`, `alreadyQueued`, `skipped` and `failed`. */
export class WebhookReplayDto {
  jobId!: string;

  webhookId!: string;

  from!: Date;

  to!: Date;

  /** `done`: all events are queued for delivery. `failed`: it ended early, and `reason` says why. */
  @ApiProperty({ enum: WORK_STATES, enumName: 'WebhookReplayState' })
  state!: WorkState;

  /** Of a failed one: the rules of the webhook were changed, or the job gave up. */
  @ApiPropertyOptional({ enum: WEBHOOK_REPLAY_END_REASONS, enumName: 'WebhookReplayEndReason' })
  reason?: WebhookReplayEndReason;

  /** Events of the subscribed types in the range; null until they are counted. */
  @ApiProperty({ type: 'integer', nullable: true, example: 100 })
  total!: number | null;

  /** How many of them were looked at. */
  @ApiProperty({ type: 'integer', example: 60 })
  scanned!: number;

  /** Those that are delivered because of this replay, with their `webhook-id` of before. */
  @ApiProperty({ type: 'integer', example: 44 })
  queued!: number;

  /** Those whose delivery was waiting anyway. It is made once. */
  @ApiProperty({ type: 'integer', example: 1 })
  alreadyQueued!: number;

  /** Those that fit no rule, or whose person was erased. */
  @ApiProperty({ type: 'integer', example: 15 })
  skipped!: number;

  /** Those with which `when` cannot be evaluated. */
  @ApiProperty({ type: 'integer', example: 0 })
  failed!: number;

  /** Those that expired after they were counted. Events that were removed earlier are not counted. */
  @ApiProperty({ type: 'integer', example: 0 })
  expired!: number;

  createdAt!: Date;

  /** The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
  createdBy!: string;

  startedAt!: Date | null;

  finishedAt!: Date | null;

  static of(replay: WebhookReplay): WebhookReplayDto {
    const { id, endpointId, state, reason, phase } = replay;
    const { scanned, queued, alreadyQueued, skipped, failed, expired } = replay;
    const { requestedAt, requestedBy, startedAt, finishedAt } = replay;
    return {
      jobId: id,
      webhookId: endpointId,
      from: replay.receivedFrom,
      to: replay.receivedTo,
      state,
      ...(reason === null ? {} : { reason }),
      total: phase === 'survey' ? null : replay.total,
      scanned,
      queued,
      alreadyQueued,
      skipped,
      failed,
      expired,
      createdAt: requestedAt,
      createdBy: requestedBy,
      startedAt,
      finishedAt,
    };
  }
}

export class WebhookReplayPageDto {
  items!: WebhookReplayDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
