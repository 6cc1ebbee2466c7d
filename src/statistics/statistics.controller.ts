import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { validationFailed } from '../platform/errors/validation-failed';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JSON_MEDIA_TYPE, sendPieces } from '../platform/http/send-stream';
import { parseTimeRange } from '../platform/pagination/time-range';
import { ReadSlots } from '../platform/rate-limit/read-slots';
import { Clock } from '../platform/values/clock';
import { statisticsRange } from './domain/statistics-range';
import { IngestStatisticsDto, IngestStatisticsQuery } from './dto/ingest-statistics.dto';
import { statisticsJson, StatisticsReader } from './statistics-reader';

@ApiTags('Statistics')
@Controller('v1/stats')
export class StatisticsController {
  constructor(
    private readonly statistics: StatisticsReader,
    private readonly slots: ReadSlots,
    private readonly clock: Clock,
  ) {}

  /** Counts the events of a range in steps: accepted ones by receipt, duplicates and refusals by their answer. */
  @Get('ingest')
  @AuthenticateApiKey('events:read', { streams: true })
  @ApiOkResponse({ type: IngestStatisticsDto })
  async getIngestStatistics(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() query: IngestStatisticsQuery,
    @Req() { socket }: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { step = 'hour', groupBy } = query;
    const range = statisticsRange({ ...parseTimeRange(query), step }, this.clock.now().getTime());
    if ('faults' in range) throw validationFailed(range.faults);
    const read = () => this.statistics.read(tenantId, range, groupBy);
    // A slow client of the answer holds no slot.
    const statistics = await this.slots.run(tenantId, read, { isGone: () => socket.destroyed });
    await sendPieces(response, JSON_MEDIA_TYPE, statisticsJson(statistics, groupBy !== undefined));
  }
}
