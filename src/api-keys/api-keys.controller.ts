import { Controller, Get, Header, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { BodyValidators } from '../platform/http/body/body-validators';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../platform/http/body/no-fields.dto';
import { idPageStart } from '../platform/pagination/id-key';
import { limitOf, PageQuery } from '../platform/pagination/page.query';
import { ApiKeyReader } from './api-key-reader';
import { ApiKeysService } from './api-keys.service';
import { expiryOfCaller, lifetimeFaults } from './domain/api-key-lifetime';
import { ApiKeyAuditEntryDto, ApiKeyAuditPageDto, ApiKeyDto, ApiKeyPageDto, IssuedApiKeyDto } from './dto/api-key.dto';
import { ApiKeyQuery } from './dto/api-key.query';
import { CreateApiKeyDto } from './dto/create-api-key.dto';

@ApiTags('API keys')
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly validators: BodyValidators,
    private readonly reader: ApiKeyReader,
    private readonly clock: Clock,
  ) {}

  /** Creates an API key; its plaintext is shown in this answer only. */
  @Post()
  @AuthenticateApiKey('api-keys:write', { proof: true })
  @MayRefuse('source_not_allowed')
  @Header('Cache-Control', 'no-store')
  @ApiCreatedResponse({ type: IssuedApiKeyDto })
  async createApiKey(
    @Caller() caller: Principal,
    // Checked below, by the same DTO, to report faults of shape and of meaning in one answer.
    @JsonBody(CreateApiKeyDto, { checked: false }) body: unknown,
    @Ip() address: string,
  ): Promise<IssuedApiKeyDto> {
    const request = this.validators.check(CreateApiKeyDto, body, (fields) =>
      lifetimeFaults(fields, this.clock.now(), expiryOfCaller(caller)),
    );
    return IssuedApiKeyDto.of(await this.keys.create(caller, request, address), this.clock.now());
  }

  /** Lists the workspace's API keys, newest first; revoked and expired ones too. */
  @Get()
  @AuthenticateApiKey('api-keys:read')
  @ApiOkResponse({ type: ApiKeyPageDto })
  async listApiKeys(@Caller() { tenantId }: Principal, @CheckedQuery() query: ApiKeyQuery): Promise<ApiKeyPageDto> {
    // One time for both: no key is listed under one state and shown in another.
    const now = this.clock.now();
    const { state, cursor } = query;
    const { rows, nextCursor } = await this.reader.list(tenantId, { state, now }, idPageStart(cursor), limitOf(query));
    return { items: rows.map((key) => ApiKeyDto.of(key, now)), nextCursor };
  }

  /** Shows one API key. */
  @Get(':id')
  @AuthenticateApiKey('api-keys:read')
  @ApiOkResponse({ type: ApiKeyDto })
  async getApiKey(@Caller() { tenantId }: Principal, @Param('id') id: string): Promise<ApiKeyDto> {
    return ApiKeyDto.of(await this.reader.get(tenantId, id), this.clock.now());
  }

  /** Lists what was done to an API key, newest first. */
  @Get(':id/audit')
  @AuthenticateApiKey('api-keys:read')
  @ApiOkResponse({ type: ApiKeyAuditPageDto })
  async listApiKeyAudit(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() query: PageQuery,
  ): Promise<ApiKeyAuditPageDto> {
    const { rows, nextCursor } = await this.reader.audit(tenantId, id, idPageStart(query.cursor), limitOf(query));
    return { items: rows.map((line) => ApiKeyAuditEntryDto.of(line)), nextCursor };
  }

  /** Replaces an API key by a new one of the same configuration; the old one is revoked, the new one shown in this answer only. */
  @Post(':id\\:rotate')
  @AuthenticateApiKey('api-keys:write', { proof: true })
  @MayRefuse('source_not_allowed', 'key_revoked')
  @Header('Cache-Control', 'no-store')
  @ApiCreatedResponse({ type: IssuedApiKeyDto })
  async rotateApiKey(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Ip() address: string,
  ): Promise<IssuedApiKeyDto> {
    return IssuedApiKeyDto.of(await this.keys.rotate(caller, id, address), this.clock.now());
  }

  /** Revokes an API key for good; doing it again changes nothing. */
  @Post(':id\\:revoke')
  @HttpCode(200)
  @AuthenticateApiKey('api-keys:write')
  @ApiOkResponse({ type: ApiKeyDto })
  async revokeApiKey(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Ip() address: string,
  ): Promise<ApiKeyDto> {
    return ApiKeyDto.of(await this.keys.revoke(caller, id, address), this.clock.now());
  }
}
