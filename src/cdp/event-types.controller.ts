import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { JsonBody } from '../platform/http/json-body.decorator';
import { receivedJson } from '../platform/http/json-body';
import { EventTypeDto, PropertyDefinitionDto, RegisterEventTypeDto } from './dto/event-type.dto';
import { EventTypesService } from './event-types.service';

@ApiTags('Event types')
@ApiExtraModels(PropertyDefinitionDto)
@Controller('v1/cdp/event-types')
export class EventTypesController {
  constructor(private readonly types: EventTypesService) {}

  /** Registers an event type, or its next version. */
  @Post()
  @AuthenticateApiKey('event-types:write')
  @ApiCreatedResponse({ type: EventTypeDto })
  @ApiOkResponse({ type: EventTypeDto, description: 'This definition was in force already.' })
  async registerEventType(
    @Caller() caller: Principal,
    @JsonBody(RegisterEventTypeDto, { limit: 'single', checked: false }) _wanted: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<EventTypeDto> {
    const { version, created } = await this.types.register(caller, receivedJson(request)?.value);
    response.status(created ? 201 : 200);
    return EventTypeDto.of(version);
  }
}
