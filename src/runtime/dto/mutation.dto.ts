import { ApiProperty } from '@nestjs/swagger';
import type { VariableValue } from '../../variables/domain/variable';
import { VARIABLE_VALUE } from '../../variables/dto/variable.dto';
import type { MutationEntry, MutationStatus } from '../domain/mutation-result';
import { OPERATION_KINDS, OPERATIONS_MAX, PATH_CHARACTERS_MAX } from '../domain/operation';

/** Checked by `domain/operation.ts`, which names every fault of every operation. */
export class OperationDto {
  @ApiProperty({ maxLength: PATH_CHARACTERS_MAX, example: 'state.user.points' })
  path!: string;

  @ApiProperty({ enum: OPERATION_KINDS, example: 'inc' })
  op!: string;

  /** Of the variable's type; a number for `inc` and `dec`. */
  @ApiProperty({ ...VARIABLE_VALUE, example: 10 })
  value!: VariableValue;
}

/** Checked by `domain/mutation-request.ts`. Each field with an underscore is known in camelCase too. */
export class MutationDto {
  /** Applied in their order, wholly or not at all. */
  @ApiProperty({ type: [OperationDto], minItems: 1, maxItems: OPERATIONS_MAX })
  ops!: OperationDto[];

  /**
   * An id of yours for this mutation, the same in every repetition; the header `Idempotency-Key` is an alias.
   * @example "checkout-4711"
   */
  @ApiProperty({ minLength: 1, maxLength: 255 })
  mutation_id?: string;

  /** The campaign, where neither the address nor the token names it. */
  @ApiProperty({ maxLength: 128 })
  campaign_id?: string;

  /** For participants the token's app, if named at all; for backends any app, `default` when absent. */
  @ApiProperty({ maxLength: 128 })
  app_id?: string;

  /** The participant of the token, or of the address, if named at all. */
  @ApiProperty({ maxLength: 256 })
  user_id?: string;

  /** The same as `mutation_id`. */
  @ApiProperty({ minLength: 1, maxLength: 255 })
  mutationId?: string;

  /** The same as `campaign_id`. */
  @ApiProperty({ maxLength: 128 })
  campaignId?: string;

  /** The same as `app_id`. */
  @ApiProperty({ maxLength: 128 })
  appId?: string;

  /** The same as `user_id`. */
  @ApiProperty({ maxLength: 256 })
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
