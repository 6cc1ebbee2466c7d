import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { ReviewModule } from '../review/review.module';
import { EventProcessing } from './queue/entities/event-processing.entity';
import { Event } from './store/entities/event.entity';
import { ProcessedBundle } from './queue/entities/processed-bundle.entity';
import { QueuedBundle } from './queue/entities/queued-bundle.entity';
import { QueuedEvent } from './queue/entities/queued-event.entity';
import { BundleRetention } from './queue/bundle-retention';
import { EventSubscriptions } from './store/event-subscriptions';
import { EventFamilies } from './parse/event-families';
import { EventLog } from './store/event-log';
import { EventQueue } from './queue/event-queue';
import { EventReader } from './log/event-reader';
import { EventReplay } from './event-replay';
import { EventSample } from './log/event-sample';
import { EventTypeCatalog } from './event-type-catalog';
import { EventViews } from './log/event-views';
import { EventsOfPerson } from './log/events-of-person';
import { EventsController } from './log/events.controller';
import { ExternalEventCheck } from './parse/external-event-check';
import { ExternalEventsController } from './http/external-events.controller';
import { IngestMetrics } from './http/ingest-metrics';
import { IngestFromMemory } from './store/store-from-memory';
import { IngestGroupCommit } from './store/event-store';
import { IngestPreview } from './store/store-preview';
import { IngestTransaction } from './store/store-transaction';
import { IngestService } from './ingest.service';
import { ProcessingReader } from './queue/processing-reader';
import { QueueSignal } from './queue/queue-signal';
import { RefusedCopies } from './store/refused-copies';
import { Timeline } from './log/timeline';

@Module({
  imports: [
    TypeOrmModule.forFeature([Event, QueuedEvent, EventProcessing, QueuedBundle, ProcessedBundle]),
    ...[IdentityModule, ReviewModule],
  ],
  controllers: [ExternalEventsController, EventsController],
  providers: [
    ...[IngestService, IngestGroupCommit, IngestPreview, IngestTransaction, EventLog, EventReader, ExternalEventCheck],
    ...[EventFamilies, EventReplay, EventSample, EventTypeCatalog, EventViews, EventsOfPerson, Timeline],
    ...[
      BundleRetention,
      EventSubscriptions,
      EventQueue,
      IngestMetrics,
      IngestFromMemory,
      QueueSignal,
      ProcessingReader,
    ],
    RefusedCopies,
  ],
  exports: [
    ...[IngestService, IngestMetrics, EventFamilies, EventReplay, EventSample, EventViews, Timeline],
    ...[EventSubscriptions, EventQueue, EventTypeCatalog, QueueSignal],
  ],
})
export class IngestModule {
  constructor(families: EventFamilies, external: ExternalEventCheck) {
    families.add('external', (_tenantId, sent) => external.check(sent));
  }
}
