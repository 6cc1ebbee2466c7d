import { Controller, Header, Ip, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/clock/clock';
import { JsonBody } from '../platform/http/json-body.decorator';
import { ApiKeysService } from './api-keys.service';
import { ApiKeyDto, IssuedApiKeyDto } from './dto/api-key.dto';
import { CreateApiKeyDto } from './dto/create-api-key.dto';

@ApiTags('API keys')
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly clock: Clock,
  ) {}

  /** Creates an API key; its plaintext is shown in this answer only. */
  @Post()
  @AuthenticateApiKey('api-keys:write')
  @Header('Cache-Control', 'no-store')
  @ApiCreatedResponse({ type: IssuedApiKeyDto })
  async createApiKey(
    @Caller() caller: Principal,
    @JsonBody(CreateApiKeyDto) wanted: CreateApiKeyDto,
    @Ip() address: string,
  ): Promise<IssuedApiKeyDto> {
    const { apiKey, key } = await this.keys.create(caller, wanted, address);
    return { apiKey: ApiKeyDto.of(apiKey, this.clock.now()), key };
  }
}
