import { Controller, Get, Ip, Put } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { ChangeRetentionDto, RetentionDto } from './dto/retention.dto';
import { RetentionService } from './retention.service';

@ApiTags('Retention')
@Controller('v1/retention')
export class RetentionController {
  constructor(private readonly retention: RetentionService) {}

  /** Shows how long the workspace keeps its events, and how far the removal of older ones is. */
  @Get()
  @AuthenticateApiKey('admin')
  @ApiOkResponse({ type: RetentionDto })
  async getRetention(@Caller() { tenantId }: Principal): Promise<RetentionDto> {
    return RetentionDto.of(await this.retention.find(tenantId));
  }

  /** Changes how long the workspace keeps its events. Older ones are removed from now on, and never come back. */
  @Put()
  @AuthenticateApiKey('admin')
  @ApiOkResponse({ type: RetentionDto })
  async changeRetention(
    @Caller() { tenantId, credentialId: by }: Principal,
    @JsonBody(ChangeRetentionDto) { eventDays = null }: ChangeRetentionDto,
    @Ip() address: string,
  ): Promise<RetentionDto> {
    return RetentionDto.of(await this.retention.change(tenantId, eventDays, { by, address }));
  }
}
