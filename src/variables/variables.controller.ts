import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { PathNamePipe } from '../platform/http/path-name.pipe';
import { validationFailed } from '../platform/errors/validation-failed';
import { BodyValidators } from '../platform/http/body/body-validators';
import { isObject } from '../platform/values/json/json-values';
import { definitionFaults, type VariableDefinition } from './domain/define-variable';
import {
  ArchivedVariableDto,
  DefinedVariableDto,
  DefineVariableDto,
  VariableAddressDto,
  VariableDto,
  VariableListDto,
} from './dto/variable.dto';
import { VariablesService } from './variables.service';

@ApiTags('Variables')
@Controller('v1/campaigns/:campaign_id')
export class VariablesController {
  constructor(
    private readonly variables: VariablesService,
    private readonly validators: BodyValidators,
  ) {}

  /** Declares a variable, or changes all but its type. Limits must include every value that is stored. */
  @Post('variables\\:define')
  @AuthenticateApiKey('variables:write')
  @MayRefuse('variable_limit_exceeded', 'variable_type_conflict', 'variable_rules_conflict', 'limit_reached')
  @HttpCode(200)
  @ApiOkResponse({ type: DefinedVariableDto })
  async defineVariable(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @JsonBody(DefineVariableDto, { checked: false }) body: unknown,
  ): Promise<DefinedVariableDto> {
    const variable = await this.variables.define(tenantId, campaignId, this.definitionIn(body));
    return { status: 'defined', variable: VariableDto.of(variable) };
  }

  /** Lists the declared variables of a campaign; an unknown campaign has none. */
  @Get('variables')
  @AuthenticateApiKey('variables:read')
  @ApiOkResponse({ type: VariableListDto })
  async listVariables(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
  ): Promise<VariableListDto> {
    const variables = await this.variables.list(tenantId, campaignId);
    return { variables: variables.map((variable) => VariableDto.of(variable)) };
  }

  /** Takes a variable out of listings and state; its values are kept, and defining it again brings them back. */
  @Post('variables\\:archive')
  @AuthenticateApiKey('variables:write')
  @HttpCode(200)
  @ApiOkResponse({ type: ArchivedVariableDto })
  async archiveVariable(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @JsonBody(VariableAddressDto) { scope, name }: VariableAddressDto,
  ): Promise<ArchivedVariableDto> {
    const variable = await this.variables.archive(tenantId, { campaignId, scope, name });
    return { status: 'archived', variable: VariableDto.of(variable) };
  }

  /** The shape by the schema of the DTO, then what a schema cannot express: all faults in one `validation_failed`. */
  private definitionIn(body: unknown): VariableDefinition {
    const { value, faults = [] } = this.validators.for<DefineVariableDto>(DefineVariableDto)(body);
    const details = definitionFaults(isObject(body) ? body : {}, faults);
    if (value === undefined || details.length > 0) throw validationFailed(details);
    return value;
  }
}
