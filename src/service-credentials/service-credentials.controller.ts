import { Controller, Get, Header, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../platform/http/body/no-fields.dto';
import { idPageStart } from '../platform/pagination/id-key';
import { limitOf, PageQuery } from '../platform/pagination/page.query';
import { CreateServiceCredentialDto } from './dto/create-service-credential.dto';
import {
  IssuedServiceCredentialDto,
  ServiceCredentialDto,
  ServiceCredentialPageDto,
} from './dto/service-credential.dto';
import { ServiceCredentialsService } from './service-credentials.service';

@ApiTags('Service credentials')
@Controller('v1/service-credentials')
export class ServiceCredentialsController {
  constructor(private readonly credentials: ServiceCredentialsService) {}

  /** Creates a credential that signs requests of the external-events family; the secret of an HMAC is shown in this answer only. */
  @Post()
  @AuthenticateApiKey('service-credentials:write', { proof: true })
  @MayRefuse('source_not_allowed')
  @Header('Cache-Control', 'no-store')
  @ApiCreatedResponse({ type: IssuedServiceCredentialDto })
  async createServiceCredential(
    @Caller() caller: Principal,
    @JsonBody(CreateServiceCredentialDto) body: CreateServiceCredentialDto,
    @Ip() address: string,
  ): Promise<IssuedServiceCredentialDto> {
    return IssuedServiceCredentialDto.of(await this.credentials.create(caller, body, address));
  }

  /** Lists the workspace's service credentials, newest first; revoked ones too. */
  @Get()
  @AuthenticateApiKey('service-credentials:read')
  @ApiOkResponse({ type: ServiceCredentialPageDto })
  async listServiceCredentials(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() query: PageQuery,
  ): Promise<ServiceCredentialPageDto> {
    const { rows, nextCursor } = await this.credentials.list(tenantId, idPageStart(query.cursor), limitOf(query));
    return { items: rows.map((credential) => ServiceCredentialDto.of(credential)), nextCursor };
  }

  /** Shows one service credential. */
  @Get(':id')
  @AuthenticateApiKey('service-credentials:read')
  @ApiOkResponse({ type: ServiceCredentialDto })
  async getServiceCredential(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
  ): Promise<ServiceCredentialDto> {
    return ServiceCredentialDto.of(await this.credentials.get(tenantId, id));
  }

  /** Revokes a service credential for good; doing it again changes nothing. */
  @Post(':id\\:revoke')
  @HttpCode(200)
  @AuthenticateApiKey('service-credentials:write')
  @ApiOkResponse({ type: ServiceCredentialDto })
  async revokeServiceCredential(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Ip() address: string,
  ): Promise<ServiceCredentialDto> {
    return ServiceCredentialDto.of(await this.credentials.revoke(caller, id, address));
  }
}
