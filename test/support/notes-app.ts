import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Injectable,
  Module,
  Param,
  ParseUUIDPipe,
  Post,
  UseGuards,
} from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiProperty, ApiPropertyOptional, type OpenAPIObject } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import type { Request } from 'express';
import { DomainError } from '../../src/platform/errors/domain-error';
import { CheckedQuery } from '../../src/platform/http/checked-query.decorator';
import { configureApp } from '../../src/platform/http/server/configure-app';
import { ApiExpressAdapter } from '../../src/platform/http/server/express-adapter';
import { BodyValidators } from '../../src/platform/http/body/body-validators';
import { BODY_LIMITS, type ReceivedJson } from '../../src/platform/http/body/json-body';
import { JsonBody } from '../../src/platform/http/body/json-body.decorator';
import { PathNamePipe } from '../../src/platform/http/path-name.pipe';

/** Below the 64 KiB of an unread rest that a connection survives, so that both ways of refusing a large body are met. */
export const BODY_BYTES_MAX = 40 * 1024;
/** How long `GET /v1/slow` takes. */
export const SLOW_MS = 200;
const PAUSE_MS = 50;
const NAME = /^[a-z]+$/;

class OwnerDto {
  @ApiProperty()
  @IsString()
  @MaxLength(8)
  name!: string;
}

export class NoteDto {
  @ApiProperty()
  @IsString()
  @Matches(NAME)
  source!: string;

  @ApiProperty()
  @IsDefined()
  @ValidateNested()
  @Type(() => OwnerDto)
  owner!: OwnerDto;

  @ApiProperty({ required: false })
  @IsOptional()
  @IsInt()
  @Min(1)
  count?: number;

  @ApiProperty({ required: false, type: [String] })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(3)
  @MaxLength(4, { each: true })
  tags?: string[];

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @IsObject()
  attributes?: Record<string, unknown>;
}

class NoteBatchDto {
  @ApiProperty({ type: [NoteDto], minItems: 1 })
  @IsArray()
  items!: unknown[];
}

class DismissDto {
  @ApiProperty({ required: false })
  @IsOptional()
  @IsString()
  note?: string;
}

class ListQuery {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Max(200)
  limit?: number;

  @IsOptional()
  @IsIn(['up', 'down'])
  order?: string;

  @IsOptional()
  @IsString()
  source?: string;
}

@Injectable()
class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest<Request>().headers.authorization !== undefined) return true;
    throw new DomainError('unauthenticated', 'An API key is needed.');
  }
}

@Controller('v1')
class NotesController {
  @Post('notes')
  @UseGuards(KeyGuard)
  take(@JsonBody(NoteDto, { withText: true }) { value: note, raw }: ReceivedJson<NoteDto>): unknown {
    return { note, bytes: raw.length };
  }

  @Get('notes')
  list(@CheckedQuery() query: ListQuery): unknown {
    return { query };
  }

  @Post('notes\\:batch')
  takeAll(@JsonBody(NoteBatchDto, { limit: 'batch', batchOf: 'items' }) batch: NoteBatchDto): unknown {
    return { items: batch.items };
  }

  @Post('keys/:id\\:rotate')
  rotate(@Param('id') id: string): unknown {
    return { rotated: id };
  }

  @Get('keys/:id')
  key(@Param('id') id: string): unknown {
    return { id };
  }

  @Post('notes/:id\\:dismiss')
  dismiss(@JsonBody(DismissDto, { optional: true }) body: object): unknown {
    return { body };
  }

  @Get('campaigns/:campaign_id')
  campaign(@Param('campaign_id', PathNamePipe) name: string): unknown {
    return { name };
  }

  @Get('uuids/:id')
  uuid(@Param('id', ParseUUIDPipe) id: string): unknown {
    return { id };
  }

  @Get('broken')
  broken(): never {
    throw Object.assign(new TypeError('jane@example.com broke it'), { status: 418 });
  }

  @Get('slow')
  async slow(): Promise<unknown> {
    await wait(SLOW_MS);
    return {};
  }

  @Get('forbidden')
  forbidden(): never {
    throw new ForbiddenException('jane@example.com may not');
  }

  @Get('away')
  away(): never {
    throw Object.assign(new Error('connect ECONNREFUSED db.internal'), { code: 'ECONNREFUSED' });
  }
}

@Module({
  controllers: [NotesController],
  providers: [
    BodyValidators,
    KeyGuard,
    {
      provide: BODY_LIMITS,
      useValue: { single: { bodyBytesMax: BODY_BYTES_MAX }, batch: { bodyBytesMax: 5 * 1024 * 1024 } },
    },
  ],
  exports: [BODY_LIMITS],
})
class NotesModule {}

/** A small application over the HTTP platform alone: no database, and a guard that takes any credential. */
export interface NotesApp {
  readonly app: NestExpressApplication;
  readonly document: OpenAPIObject;
  readonly url: string;
  readonly port: number;
}

export async function startNotesApp(): Promise<NotesApp> {
  const testing = await Test.createTestingModule({ imports: [NotesModule] }).compile();
  const app = testing.createNestApplication<NestExpressApplication>(new ApiExpressAdapter(), { logger: false });
  const document = await configureApp(app, { batchItemsMax: 5 });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, document: document(), port, url: `http://127.0.0.1:${port}` };
}

/**
 * What a server answers to these very bytes, until it has sent `until` or closed the connection. Like simple clients do, it
 * begins to read only when everything is sent. Several texts are sent one after the other, each after a moment.
 */
export async function exchange(port: number, texts: string | readonly string[], until?: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const closed = once(socket, 'close');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
    if (until !== undefined && answer.includes(until)) socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.pause();
  for (const [index, text] of [texts].flat().entries()) {
    if (index > 0) await wait(PAUSE_MS);
    await new Promise((resolve) => socket.write(text, resolve));
  }
  socket.resume();
  await closed;
  return answer;
}
