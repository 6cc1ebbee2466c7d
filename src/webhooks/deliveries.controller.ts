import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { NoFieldsDto } from '../platform/http/body/no-fields.dto';
import { limitOf } from '../platform/pagination/page.query';
import { DeliveriesService } from './deliveries.service';
import { AttemptDto, DeliveryDto, DeliveryPageDto, DeliveryQuery } from './dto/delivery.dto';
import { TestCalls } from './test-calls';

@ApiTags('Webhooks')
@Controller('v1/webhooks')
export class DeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly testCalls: TestCalls,
  ) {}

  /** Lists the deliveries of an endpoint with their attempts, newest first. Done ones are kept for 30 days. */
  @Get(':id/deliveries')
  @AuthenticateApiKey('webhooks:read')
  @ApiOkResponse({ type: DeliveryPageDto })
  async listDeliveries(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() { state, cursor, ...query }: DeliveryQuery,
  ): Promise<DeliveryPageDto> {
    const page = await this.deliveries.list(tenantId, id, { state, cursor, limit: limitOf(query) });
    return { items: await this.deliveries.viewsOf(tenantId, page.rows), nextCursor: page.nextCursor };
  }

  /** Sends a delivery now; one that is done is sent again, with the same `webhook-id`. */
  @Post(':id/deliveries/:delivery_id\\:retry')
  @HttpCode(200)
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: DeliveryDto })
  async retryDelivery(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @Param('delivery_id') deliveryId: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<DeliveryDto> {
    return this.deliveries.viewOf(tenantId, await this.deliveries.retry(tenantId, id, deliveryId));
  }

  /** Sends a test call, and answers with what came of it. Nothing is stored, and it is not repeated. */
  @Post(':id\\:test')
  @HttpCode(200)
  @AuthenticateApiKey('webhooks:write')
  @ApiOkResponse({ type: AttemptDto })
  async testWebhook(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<AttemptDto> {
    return AttemptDto.of(await this.testCalls.send(tenantId, id));
  }
}
