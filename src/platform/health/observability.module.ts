import { Global, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ClockDifference } from '../observability/clock-difference';
import { ConnectionMetrics } from '../observability/connection-metrics';
import { HealthController } from './health.controller';
import { GroupCommitMetrics } from '../group-commit/group-commit-metrics';
import { Metrics } from '../observability/metrics';
import { MetricsController } from './metrics.controller';
import { MetricsSource } from '../observability/metrics-source';
import { Readiness } from './readiness';
import { RequestObserver } from '../http/server/request-observer';
import { Tracing } from '../observability/tracing';

const PROVIDERS = [
  Metrics,
  MetricsSource,
  ClockDifference,
  ConnectionMetrics,
  GroupCommitMetrics,
  RequestObserver,
  Readiness,
  Tracing,
];

/** Health, metrics and traces, for operators (contract section 9). */
@Global()
@Module({
  // The library would log failed checks every few seconds.
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, MetricsController],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class ObservabilityModule {}
