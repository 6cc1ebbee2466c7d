import { Injectable } from '@nestjs/common';
import { validationFailed } from '../platform/errors/validation-failed';
import { BodyValidators } from '../platform/http/body/body-validators';
import { isObject } from '../platform/values/json/is-object';
import { definitionFaults, type VariableDefinition } from './domain/define-variable';
import { DefineVariableDto } from './dto/variable.dto';

/** Checks one JSON value as the definition of a variable: its shape, and what it means. */
@Injectable()
export class DefinitionCheck {
  constructor(private readonly validators: BodyValidators) {}

  /** Throws `validation_failed` with the faults of both. */
  parse(input: unknown): VariableDefinition {
    const { value, faults = [] } = this.validators.for<DefineVariableDto>(DefineVariableDto)(input);
    const details = definitionFaults(isObject(input) ? input : {}, faults);
    if (value !== undefined && details.length === 0) return value;
    throw validationFailed(details);
  }
}
