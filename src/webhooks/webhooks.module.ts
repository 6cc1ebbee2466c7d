import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { IngestModule } from '../ingest/ingest.module';
import { ProcessingModule } from '../processing/processing.module';
import { ReviewModule } from '../review/review.module';
import { RuntimeModule } from '../runtime/runtime.module';
import { DeliveriesController } from './deliveries.controller';
import { DeliveriesService } from './deliveries.service';
import { DeliveriesOfPerson } from './delivery/deliveries-of-person';
import { DeliveryMetrics } from './delivery/delivery-metrics';
import { DeliveryClaims } from './delivery/delivery-claims';
import { DeliveryResultStore } from './delivery/delivery-result-store';
import { DeliverySignal } from './delivery/delivery-signal';
import { DeliveryMaintenance } from './delivery/delivery-maintenance';
import { WebhookDispatcher } from './delivery/dispatcher';
import { SplitCustomers } from './delivery/split-customers';
import { EndpointChecks } from './endpoint-checks';
import { EndpointHealth } from './delivery/endpoint-health';
import { WebhookChange } from './entities/webhook-change.entity';
import { WebhookDelivery } from './entities/webhook-delivery.entity';
import { WebhookEndpoint } from './entities/webhook-endpoint.entity';
import { WebhookReplay } from './entities/webhook-replay.entity';
import { WebhookQueue } from './entities/webhook-queue.entity';
import { WebhookRuleRow } from './entities/webhook-rule.entity';
import { WebhookSet } from './entities/webhook-set.entity';
import { ChangeOutbox } from './change-outbox';
import { ChangeRulesCache } from './change-rules';
import { ChangeRelay } from './delivery/change-relay';
import { CallsUnderWay } from './delivery/calls-under-way';
import { ChangesOfPerson } from './delivery/changes-of-person';
import { WebhookReplayJob } from './replay/webhook-replay-job';
import { WebhookReplayProgress } from './replay/webhook-replay-progress';
import { WebhookReplayStep } from './replay/webhook-replay-step';
import { WebhookReplayRepository } from './replay/webhook-replay.repository';
import { WebhookReplaysController } from './replay/webhook-replays.controller';
import { WebhookReplaysService } from './replay/webhook-replays.service';
import { EventRuleCache } from './event-rule-cache';
import { RulesAhead } from './rules-ahead';
import { TestCalls } from './test-calls';
import { WebhookAudit } from './webhook-audit';
import { WebhookDefinitionCheck } from './webhook-definition-check';
import { WebhookEffect } from './webhook-effect';
import { WebhookRuleUpdates } from './webhook-rule-updates';
import { WebhookRepository } from './webhook.repository';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      WebhookEndpoint,
      WebhookRuleRow,
      WebhookSet,
      WebhookDelivery,
      WebhookQueue,
      WebhookChange,
      WebhookReplay,
    ]),
    IngestModule,
    IdentityModule,
    ProcessingModule,
    ReviewModule,
    RuntimeModule,
  ],
  controllers: [WebhooksController, DeliveriesController, WebhookReplaysController],
  providers: [
    CallsUnderWay,
    WebhooksService,
    WebhookRepository,
    WebhookAudit,
    WebhookDefinitionCheck,
    EventRuleCache,
    WebhookRuleUpdates,
    WebhookEffect,
    ChangeRulesCache,
    ChangeOutbox,
    ChangeRelay,
    ChangesOfPerson,
    DeliveriesService,
    DeliveriesOfPerson,
    DeliveryClaims,
    DeliveryResultStore,
    DeliverySignal,
    DeliveryMetrics,
    DeliveryMaintenance,
    EndpointChecks,
    EndpointHealth,
    RulesAhead,
    SplitCustomers,
    TestCalls,
    WebhookDispatcher,
    WebhookReplaysService,
    WebhookReplayRepository,
    WebhookReplayProgress,
    WebhookReplayStep,
    WebhookReplayJob,
  ],
  exports: [WebhookDispatcher],
})
export class WebhooksModule {}
