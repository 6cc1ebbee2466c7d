import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { receivedJson } from '../../platform/http/body/json-body';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { PathNamePipe } from '../../platform/http/path-name.pipe';
import { limitOf, PageQuery } from '../../platform/pagination/page.query';
import { EventTypeHistoryDto, EventTypePageDto } from './dto/event-type-history.dto';
import { EventTypeSchemaDto } from './dto/event-type-schema.dto';
import { EventTypeTrialDto } from './dto/event-type-trial.dto';
import { EventTypeDto, PropertyDefinitionDto, RegisterEventTypeDto } from './dto/event-type.dto';
import { EventTypeReader } from './event-type-reader';
import { EventTypeCheck } from './event-type-check';
import { EventTypesService, parseRegistration } from './event-types.service';

@ApiTags('Event types')
@ApiExtraModels(PropertyDefinitionDto)
@Controller('v1/cdp')
export class EventTypesController {
  constructor(
    private readonly types: EventTypesService,
    private readonly reader: EventTypeReader,
    private readonly check: EventTypeCheck,
  ) {}

  /** Registers an event type, or its next version. */
  @Post('event-types')
  @AuthenticateApiKey('event-types:write')
  @MayRefuse('incompatible_event_type')
  @ApiCreatedResponse({ type: EventTypeDto })
  @ApiOkResponse({ type: EventTypeDto, description: 'This definition was in force already.' })
  async registerEventType(
    @Caller() caller: Principal,
    @JsonBody(RegisterEventTypeDto, { limit: 'single', checked: false }) _wanted: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<EventTypeDto> {
    const { version, created } = await this.types.register(caller, parseRegistration(receivedJson(request)?.value));
    response.status(created ? 201 : 200);
    return EventTypeDto.of(version);
  }

  /** Tells what registering a definition would do and, with `events:read`, how many recent events would pass; writes nothing. */
  @Post('event-types\\:check')
  @HttpCode(200)
  @AuthenticateApiKey('event-types:read')
  @ApiOkResponse({ type: EventTypeTrialDto })
  async checkEventType(
    @Caller() caller: Principal,
    @JsonBody(RegisterEventTypeDto, { limit: 'single', checked: false }) _wanted: unknown,
    @Req() request: Request,
  ): Promise<EventTypeTrialDto> {
    const { definition } = parseRegistration(receivedJson(request)?.value);
    return EventTypeTrialDto.of(await this.check.run(caller, definition));
  }

  /** Lists event types, the newest first, each with its version in force. */
  @Get('event-types')
  @AuthenticateApiKey('event-types:read')
  @ApiOkResponse({ type: EventTypePageDto })
  async listEventTypes(@Caller() { tenantId }: Principal, @CheckedQuery() query: PageQuery): Promise<EventTypePageDto> {
    return EventTypePageDto.of(await this.reader.list(tenantId, query.cursor, limitOf(query)));
  }

  /** Shows an event type with its versions. */
  @Get('event-types/:eventType')
  @AuthenticateApiKey('event-types:read')
  @ApiOkResponse({ type: EventTypeHistoryDto })
  async getEventType(
    @Caller() { tenantId }: Principal,
    @Param('eventType', PathNamePipe) eventType: string,
  ): Promise<EventTypeHistoryDto> {
    return EventTypeHistoryDto.of(await this.reader.get(tenantId, eventType));
  }

  /** Shows what the properties of its events must be, as JSON Schema (draft 2020-12). */
  @Get('event-types/:eventType/json-schema')
  @AuthenticateApiKey('event-types:read')
  @ApiOkResponse({ type: EventTypeSchemaDto })
  getEventTypeJsonSchema(
    @Caller() { tenantId }: Principal,
    @Param('eventType', PathNamePipe) eventType: string,
  ): Promise<EventTypeSchemaDto> {
    return this.reader.jsonSchema(tenantId, eventType);
  }

  /** Deprecates an event type: its events are still taken, and leave one warning a day. Doing it again changes nothing. */
  @Post('event-types/:eventType\\:deprecate')
  @HttpCode(200)
  @AuthenticateApiKey('event-types:write')
  @ApiOkResponse({ type: EventTypeHistoryDto })
  async deprecateEventType(
    @Caller() { tenantId }: Principal,
    @Param('eventType', PathNamePipe) eventType: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<EventTypeHistoryDto> {
    await this.types.deprecate(tenantId, eventType);
    return EventTypeHistoryDto.of(await this.reader.get(tenantId, eventType));
  }
}
