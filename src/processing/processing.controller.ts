import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { ProcessingSummaryDto } from './dto/processing-summary.dto';
import { QueueStatistics } from './queue-statistics';

@ApiTags('Processing')
@Controller('v1/processing')
export class ProcessingController {
  constructor(private readonly statistics: QueueStatistics) {}

  /** Shows how many events wait to be processed, and how many could not be. */
  @Get('summary')
  @AuthenticateApiKey('events:read')
  @ApiOkResponse({ type: ProcessingSummaryDto })
  summarizeProcessing(@Caller() { tenantId }: Principal): Promise<ProcessingSummaryDto> {
    return this.statistics.summary(tenantId);
  }
}
