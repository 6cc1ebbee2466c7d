import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { ReviewModule } from '../review/review.module';
import { AnsweredEvents } from './answered-events';
import { EventTypeCatalog } from './event-type-catalog';
import { ContentChecks } from './expiry/content-checks';
import { ExpiredEventCount } from './expiry/entities/expired-event-count.entity';
import { EventExpiry } from './expiry/event-expiry';
import { ExternalEventsController } from './http/external-events.controller';
import { IngestMetrics } from './http/ingest-metrics';
import { DeliveryViews } from './log/delivery-views';
import { EventReader } from './log/event-reader';
import { EventSample } from './log/event-sample';
import { EventViews } from './log/event-views';
import { EventsController } from './log/events.controller';
import { EventsNamingPerson } from './log/events-naming-person';
import { EventsOfPerson } from './log/events-of-person';
import { ReceiptWatermark } from './log/receipt-watermark';
import { Timeline } from './log/timeline';
import { EventParsers } from './parse/event-parsers';
import { ExternalEventParser } from './parse/external-event-parser';
import { IngestPipeline } from './pipeline';
import { ProblemRecorder } from './problem-recorder';
import { BundleRetention } from './queue/bundle-retention';
import { EventProcessing } from './queue/entities/event-processing.entity';
import { ProcessedBundle } from './queue/entities/processed-bundle.entity';
import { QueuedBundle } from './queue/entities/queued-bundle.entity';
import { QueuedEvent } from './queue/entities/queued-event.entity';
import { EventQueue } from './queue/event-queue';
import { ProcessingReader } from './queue/processing-reader';
import { QueueSignal } from './queue/queue-signal';
import { DryRunStore } from './store/dry-run-store';
import { EventRow } from './store/entities/event.entity';
import { EventLog } from './store/event-log';
import { EventStore } from './store/event-store';
import { EventSubscriptions } from './store/event-subscriptions';
import { ReplayedEvents } from './store/replayed-events';
import { StoreFromMemory } from './store/store-from-memory';
import { StoreTransaction } from './store/store-transaction';
import { StoredCopies } from './store/stored-copies';
import { RefusalsOfStoredEvents } from './refusals-of-stored-events';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      EventRow,
      QueuedEvent,
      EventProcessing,
      QueuedBundle,
      ProcessedBundle,
      ExpiredEventCount,
    ]),
    IdentityModule,
    ReviewModule,
  ],
  controllers: [ExternalEventsController, EventsController],
  providers: [
    IngestPipeline,
    ProblemRecorder,
    IngestMetrics,
    AnsweredEvents,
    RefusalsOfStoredEvents,
    // parse
    EventParsers,
    ExternalEventParser,
    EventTypeCatalog,
    // store
    EventStore,
    StoreFromMemory,
    StoreTransaction,
    StoredCopies,
    DryRunStore,
    EventLog,
    EventSubscriptions,
    ReplayedEvents,
    // expiry
    EventExpiry,
    ContentChecks,
    // log
    DeliveryViews,
    EventReader,
    EventSample,
    EventViews,
    EventsOfPerson,
    EventsNamingPerson,
    ReceiptWatermark,
    Timeline,
    // queue
    EventQueue,
    QueueSignal,
    ProcessingReader,
    BundleRetention,
  ],
  exports: [
    IngestPipeline,
    ProblemRecorder,
    IngestMetrics,
    AnsweredEvents,
    EventParsers,
    EventTypeCatalog,
    EventSubscriptions,
    ReplayedEvents,
    DeliveryViews,
    EventSample,
    EventViews,
    Timeline,
    EventExpiry,
    EventQueue,
    QueueSignal,
  ],
})
export class IngestModule {
  constructor(parsers: EventParsers, external: ExternalEventParser) {
    parsers.add('external', (_tenantId, submission) => external.parse(submission));
  }
}
