import { ApiProperty } from '@nestjs/swagger';
import { VARIABLE_VALUE } from '../../variables/domain/value-type';
import type { VariableValue } from '../../variables/domain/variable';
import { MUTATION_SCHEMA } from '../domain/mutation-request';
import type { MutationEntry, MutationStatus } from '../domain/mutation-work';
import { OPERATION_SCHEMA, OPS_SCHEMA, type OperationKind } from '../domain/operation';

/** Documents what `domain/operation.ts` checks, by the table of that parser. */
export class OperationDto {
  @ApiProperty({ ...OPERATION_SCHEMA.path, example: 'state.user.points' })
  path!: string;

  @ApiProperty({ ...OPERATION_SCHEMA.op, example: 'inc' })
  op!: OperationKind;

  /** Of the variable's type; a number for `inc` and `dec`. */
  @ApiProperty({ ...OPERATION_SCHEMA.value, example: 10 })
  value!: VariableValue;
}

/** Documents what `domain/mutation-request.ts` checks, by the table of that parser. Every text field has an alias. */
export class MutationDto {
  /** Applied in their order, all or none. */
  @ApiProperty({ type: [OperationDto], ...OPS_SCHEMA })
  ops!: OperationDto[];

  /**
   * An id of yours for this mutation, the same in every repetition; the header `Idempotency-Key` is an alias.
   * @example "checkout-4711"
   */
  @ApiProperty(MUTATION_SCHEMA.mutation_id)
  mutation_id?: string;

  /** The campaign, if neither the path nor the token names it. */
  @ApiProperty(MUTATION_SCHEMA.campaign_id)
  campaign_id?: string;

  /** For participants, if sent, the token's app; for backends any app, `default` when absent. */
  @ApiProperty(MUTATION_SCHEMA.app_id)
  app_id?: string;

  /** If sent, the participant of the token or of the path. */
  @ApiProperty(MUTATION_SCHEMA.user_id)
  user_id?: string;

  /** The same as `mutation_id`. */
  @ApiProperty(MUTATION_SCHEMA.mutation_id)
  mutationId?: string;

  /** The same as `campaign_id`. */
  @ApiProperty(MUTATION_SCHEMA.campaign_id)
  campaignId?: string;

  /** The same as `app_id`. */
  @ApiProperty(MUTATION_SCHEMA.app_id)
  appId?: string;

  /** The same as `user_id`. */
  @ApiProperty(MUTATION_SCHEMA.user_id)
  userId?: string;
}

export class MutationEntryDto {
  /** @example "state.user.points" */
  path!: string;

  /**
   * What a read would have shown before; null where there was neither a value nor a default.
   * @example 100
   */
  @ApiProperty({ ...VARIABLE_VALUE, nullable: true })
  previous!: VariableValue | null;

  /** @example 110 */
  @ApiProperty(VARIABLE_VALUE)
  current!: VariableValue;
}

export class MutationResultDto {
  @ApiProperty({ enum: ['applied', 'duplicate'] })
  status!: MutationStatus;

  /** One entry for each operation; of a duplicate, those of the original. */
  @ApiProperty({ type: [MutationEntryDto] })
  mutations!: readonly MutationEntry[];
}
