import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { PathNamePipe } from '../../platform/http/path-name.pipe';
import { limitOf, PageQuery } from '../../platform/pagination/page.query';
import { parseRegistration } from './domain/event-type-parser';
import { EventTypeSchemaDto } from './dto/event-type-schema.dto';
import { EventTypeTrialDto } from './dto/event-type-trial.dto';
import {
  EventTypeDto,
  EventTypeHistoryDto,
  EventTypePageDto,
  PropertyDefinitionDto,
  RegisterEventTypeDto,
} from './dto/event-type.dto';
import { InferEventTypeDto, InferredEventTypeDto } from './dto/inferred-event-type.dto';
import { EventTypeReader } from './event-type-reader';
import { EventTypeCheck } from './event-type-check';
import { EventTypeInference } from './event-type-inference';
import { EventTypesService } from './event-types.service';

@ApiTags('Event types')
@ApiExtraModels(PropertyDefinitionDto)
@Controller('v1/cdp')
export class EventTypesController {
  constructor(
    private readonly types: EventTypesService,
    private readonly reader: EventTypeReader,
    private readonly check: EventTypeCheck,
    private readonly inference: EventTypeInference,
  ) {}

  /** Registers an event type, or its next version. */
  @Post('event-types')
  @AuthenticateApiKey('event-types:write')
  @MayRefuse('incompatible_event_type')
  @ApiCreatedResponse({ type: EventTypeDto })
  @ApiOkResponse({ type: EventTypeDto, description: 'This definition is the current version already.' })
  async registerEventType(
    @Caller() caller: Principal,
    // `parseRegistration` checks the body: it names more faults than a schema can.
    @JsonBody(RegisterEventTypeDto, { limit: 'single', checked: false }) body: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<EventTypeDto> {
    const { version, created } = await this.types.register(caller, parseRegistration(body));
    response.status(created ? 201 : 200);
    return EventTypeDto.of(version);
  }

  /** Shows what a registration would do and, with `events:read`, how many recent events would pass. Writes nothing. */
  @Post('event-types\\:check')
  @HttpCode(200)
  @AuthenticateApiKey('event-types:read')
  @ApiOkResponse({ type: EventTypeTrialDto })
  async checkEventType(
    @Caller() caller: Principal,
    @JsonBody(RegisterEventTypeDto, { limit: 'single', checked: false }) body: unknown,
  ): Promise<EventTypeTrialDto> {
    const { definition } = parseRegistration(body);
    return EventTypeTrialDto.of(await this.check.run(caller, definition));
  }

  /** Drafts an event type from the newest 400 events of its name that the key may read. Writes nothing. */
  @Post('event-types\\:infer')
  @HttpCode(200)
  @AuthenticateApiKey('event-types:read')
  @ApiOkResponse({ type: InferredEventTypeDto })
  async inferEventType(
    @Caller() caller: Principal,
    @JsonBody(InferEventTypeDto) { eventType }: InferEventTypeDto,
  ): Promise<InferredEventTypeDto> {
    return InferredEventTypeDto.of(await this.inference.infer(caller, eventType));
  }

  /** Lists event types, newest first, each with its current version. */
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

  /** Shows the schema of its events' properties, as JSON Schema (draft 2020-12). */
  @Get('event-types/:eventType/json-schema')
  @AuthenticateApiKey('event-types:read')
  @ApiOkResponse({ type: EventTypeSchemaDto })
  getEventTypeJsonSchema(
    @Caller() { tenantId }: Principal,
    @Param('eventType', PathNamePipe) eventType: string,
  ): Promise<EventTypeSchemaDto> {
    return this.reader.jsonSchema(tenantId, eventType);
  }

  /** Deprecates an event type. Its events are still accepted and open one review warning a day. Idempotent. */
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
