import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Registry } from 'prom-client';
import { Unauthenticated } from '../auth/authenticate.decorator';
import { MayRefuse } from '../http/openapi/may-refuse.decorator';
import { MetricsSource } from '../observability/metrics-source';

const EXAMPLE = `# HELP cds_ready 1 while the process can be sent requests, 0 for each reason why not
# TYPE cds_ready gauge
cds_ready{reason="ready"} 1
`;

/** For Prometheus (contract section 9). */
@ApiTags('Operation')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly source: MetricsSource) {}

  /** Shows the metrics of this process, or of all processes on its port, in the text format of Prometheus. */
  @Get()
  @Unauthenticated('Prometheus has no credential; the answer has numbers only, and nothing that a client has sent.')
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
