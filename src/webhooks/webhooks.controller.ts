import { Controller, Delete, Get, Header, HttpCode, Param, Patch, Post } from '@nestjs/common';
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
  ): Promise<IssuedWebhookDto> {
    const { shownSecret, ...webhook } = await this.webhooks.create(caller, body);
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
  ): Promise<WebhookDto> {
    return viewOf(await this.webhooks.patch(caller, id, body));
  }

  /** Deletes an endpoint with its deliveries; what was not sent yet is not sent any more. */
  @Delete(':id')
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: WebhookDto })
  async deleteWebhook(@Caller() { tenantId }: Principal, @Param('id') id: string): Promise<WebhookDto> {
    return viewOf(await this.webhooks.delete(tenantId, id));
  }

  /** Makes a new secret, shown in this answer only. For 24 hours the old one signs, too; older ones end at once. */
  @Post(':id\\:rotate-secret')
  @AuthenticateApiKey('webhooks:write')
  @Header('Cache-Control', 'no-store')
  @ApiCreatedResponse({ type: IssuedWebhookDto })
  async rotateWebhookSecret(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<IssuedWebhookDto> {
    const { shownSecret, ...webhook } = await this.webhooks.rotateSecret(tenantId, id);
    return { webhook: viewOf(webhook), secret: shownSecret };
  }

  /** Enables an endpoint: what was kept is sent, in the order of each customer. */
  @Post(':id\\:enable')
  @HttpCode(200)
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: WebhookDto })
  async enableWebhook(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<WebhookDto> {
    return viewOf(await this.webhooks.enable(tenantId, id));
  }

  /** Disables an endpoint: events are kept for it, and not sent. */
  @Post(':id\\:disable')
  @HttpCode(200)
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: WebhookDto })
  async disableWebhook(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<WebhookDto> {
    return viewOf(await this.webhooks.disable(tenantId, id));
  }
}

function viewOf({ endpoint, rules }: Webhook): WebhookDto {
  return WebhookDto.of(endpoint, rules);
}
