import { Controller, Delete, Get, Ip, Param, Post, Put } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { limitOf, PageQuery } from '../platform/pagination/page.query';
import { pageStart } from '../platform/pagination/time-key';
import {
  CHANGED_ISSUER_EXAMPLES,
  CreateJwtIssuerDto,
  JWT_ISSUER_EXAMPLES,
  JwtIssuerSettingsDto,
} from './dto/create-jwt-issuer.dto';
import { JwtIssuerDto, JwtIssuerPageDto } from './dto/jwt-issuer.dto';
import { JwtIssuersService } from './jwt-issuers.service';

@ApiTags('JWT issuers')
@Controller('v1/jwt-issuers')
export class JwtIssuersController {
  constructor(private readonly issuers: JwtIssuersService) {}

  /** Registers an issuer of participants' tokens. */
  @Post()
  @AuthenticateApiKey('jwt-issuers:write')
  @MayRefuse('issuer_taken')
  @ApiCreatedResponse({ type: JwtIssuerDto })
  async createJwtIssuer(
    @Caller() caller: Principal,
    // `IssuerDefinitionCheck` checks it, by the same DTO, to report faults of shape and of meaning in one answer.
    @JsonBody(CreateJwtIssuerDto, { checked: false, examples: JWT_ISSUER_EXAMPLES }) body: unknown,
    @Ip() address: string,
  ): Promise<JwtIssuerDto> {
    return JwtIssuerDto.of(await this.issuers.create(caller, body, address));
  }

  /** Lists the issuers of the workspace, newest first. */
  @Get()
  @AuthenticateApiKey('jwt-issuers:read')
  @ApiOkResponse({ type: JwtIssuerPageDto })
  async listJwtIssuers(@Caller() { tenantId }: Principal, @CheckedQuery() query: PageQuery): Promise<JwtIssuerPageDto> {
    const { rows, nextCursor } = await this.issuers.list(tenantId, pageStart(query.cursor), limitOf(query));
    return { items: rows.map((issuer) => JwtIssuerDto.of(issuer)), nextCursor };
  }

  /** Shows one issuer. */
  @Get(':id')
  @AuthenticateApiKey('jwt-issuers:read')
  @ApiOkResponse({ type: JwtIssuerDto })
  async getJwtIssuer(@Caller() { tenantId }: Principal, @Param('id') id: string): Promise<JwtIssuerDto> {
    return JwtIssuerDto.of(await this.issuers.get(tenantId, id));
  }

  /** Replaces all of an issuer but `issuer` and `audience`, without a gap. Without a source of keys the keys stay. */
  @Put(':id')
  @AuthenticateApiKey('jwt-issuers:write')
  @ApiOkResponse({ type: JwtIssuerDto })
  async changeJwtIssuer(
    @Caller() caller: Principal,
    @Param('id') id: string,
    // Checked as a new issuer is.
    @JsonBody(JwtIssuerSettingsDto, { checked: false, examples: CHANGED_ISSUER_EXAMPLES }) body: unknown,
    @Ip() address: string,
  ): Promise<JwtIssuerDto> {
    return JwtIssuerDto.of(await this.issuers.change(caller, id, body, address));
  }

  /** Deletes an issuer: its tokens are refused from now on. */
  @Delete(':id')
  @AuthenticateApiKey('jwt-issuers:write')
  @ApiOkResponse({ type: JwtIssuerDto })
  async deleteJwtIssuer(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Ip() address: string,
  ): Promise<JwtIssuerDto> {
    return JwtIssuerDto.of(await this.issuers.delete(caller, id, address));
  }
}
