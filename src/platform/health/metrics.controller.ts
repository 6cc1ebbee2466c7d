import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Registry } from 'prom-client';
import { Unauthenticated } from '../auth/authenticate.decorator';
import { MayRefuse } from '../http/openapi/may-refuse.decorator';
import { MetricsSource } from '../observability/metrics-source';

const EXAMPLE = `# HELP cds_events_received_total Events that were sent
# TYPE cds_events_received_total counter
cds_events_received_total{family="external"} 4711
`;

/** What Prometheus reads (contract section 9). */
@ApiTags('Operation')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly source: MetricsSource) {}

  /** Shows what this process, or all that share its port, count and measure, in the text format of Prometheus. */
  @Get()
  @Unauthenticated('Prometheus has no credential; there are numbers in the answer, and nothing that a client has sent.')
  @MayRefuse('unavailable')
  @ApiOkResponse({
    description: 'Numbers.',
    content: { 'text/plain': { schema: { type: 'string' }, example: EXAMPLE } },
  })
  async readMetrics(@Res() response: Response): Promise<void> {
    const text = await this.source.text();
    response.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE);
    response.setHeader('Cache-Control', 'no-store');
    response.end(text);
  }
}
