import { Controller, Delete, Get, Header, HttpCode, Ip, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { NoFieldsDto } from '../platform/http/body/no-fields.dto';
import { idPageStart } from '../platform/pagination/id-key';
import { limitOf, PageQuery } from '../platform/pagination/page.query';
import { ChangeWebhookDto, CreateWebhookDto, IssuedWebhookDto, WebhookDto, WebhookPageDto } from './dto/webhook.dto';
import type { Webhook } from './webhook.repository';
import { WebhooksService } from './webhooks.service';

@ApiTags('Webhooks')
@Controller('v1/webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  /** Creates an endpoint that events are sent to from now on; the secret is shown in this answer only. */
  @Post()
  @AuthenticateApiKey('webhooks:write')
  @Header('Cache-Control', 'no-store')
  @ApiCreatedResponse({ type: IssuedWebhookDto })
  async createWebhook(
    @Caller() caller: Principal,
    @JsonBody(CreateWebhookDto, { checked: false }) body: unknown,
    @Ip() address: string,
  ): Promise<IssuedWebhookDto> {
    const { shownSecret, ...webhook } = await this.webhooks.create(caller, body, address);
    return { webhook: viewOf(webhook), secret: shownSecret };
  }

  /** Lists the endpoints of the workspace, newest first. */
  @Get()
  @AuthenticateApiKey('webhooks:read')
  @ApiOkResponse({ type: WebhookPageDto })
  async listWebhooks(@Caller() { tenantId }: Principal, @CheckedQuery() query: PageQuery): Promise<WebhookPageDto> {
    const { rows, nextCursor } = await this.webhooks.list(tenantId, idPageStart(query.cursor), limitOf(query));
    return { items: rows.map(viewOf), nextCursor };
  }

  /** Shows one endpoint. */
  @Get(':id')
  @AuthenticateApiKey('webhooks:read')
  @ApiOkResponse({ type: WebhookDto })
  async getWebhook(@Caller() { tenantId }: Principal, @Param('id') id: string): Promise<WebhookDto> {
    return viewOf(await this.webhooks.get(tenantId, id));
  }

  /** Changes an endpoint. What sends personal data takes the scope `pii:read` as well. */
  @Patch(':id')
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: WebhookDto })
  async changeWebhook(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(ChangeWebhookDto, { checked: false }) body: unknown,
    @Ip() address: string,
  ): Promise<WebhookDto> {
    return viewOf(await this.webhooks.patch(caller, id, body, address));
  }

  /** Deletes an endpoint with its deliveries; what was not sent yet is not sent any more. */
  @Delete(':id')
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: WebhookDto })
  async deleteWebhook(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Ip() address: string,
  ): Promise<WebhookDto> {
    return viewOf(await this.webhooks.delete({ ...caller, address }, id));
  }

  /** Makes a new secret, shown in this answer only. Each of the last two before it signs for 24 hours, too. */
  @Post(':id\\:rotate-secret')
  @AuthenticateApiKey('webhooks:write')
  @Header('Cache-Control', 'no-store')
  @ApiCreatedResponse({ type: IssuedWebhookDto })
  async rotateWebhookSecret(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Ip() address: string,
  ): Promise<IssuedWebhookDto> {
    const { shownSecret, ...webhook } = await this.webhooks.rotateSecret({ ...caller, address }, id);
    return { webhook: viewOf(webhook), secret: shownSecret };
  }

  /** Enables an endpoint: what was kept is sent, in the order of each customer. */
  @Post(':id\\:enable')
  @HttpCode(200)
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: WebhookDto })
  async enableWebhook(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Ip() address: string,
  ): Promise<WebhookDto> {
    return viewOf(await this.webhooks.enable({ ...caller, address }, id));
  }

  /** Disables an endpoint: events are kept for it, and not sent. */
  @Post(':id\\:disable')
  @HttpCode(200)
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: WebhookDto })
  async disableWebhook(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
    @Ip() address: string,
  ): Promise<WebhookDto> {
    return viewOf(await this.webhooks.disable({ ...caller, address }, id));
  }
}

function viewOf({ endpoint, rules }: Webhook): WebhookDto {
  return WebhookDto.of(endpoint, rules);
}
