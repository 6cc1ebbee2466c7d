import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { ReviewModule } from '../review/review.module';
import { EventProcessing } from './entities/event-processing.entity';
import { Event } from './entities/event.entity';
import { ProcessedBundle } from './entities/processed-bundle.entity';
import { QueuedBundle } from './entities/queued-bundle.entity';
import { QueuedEvent } from './entities/queued-event.entity';
import { BundleRetention } from './bundle-retention';
import { EventSubscriptions } from './event-subscriptions';
import { EventFamilies } from './event-families';
import { EventLog } from './event-log';
import { EventQueue } from './event-queue';
import { EventReader } from './event-reader';
import { EventReplay } from './event-replay';
import { EventSample } from './event-sample';
import { EventTypeCatalog } from './event-type-catalog';
import { EventViews } from './event-views';
import { EventsOfPerson } from './events-of-person';
import { EventsController } from './events.controller';
import { ExternalEventCheck } from './external-event-check';
import { ExternalEventsController } from './external-events.controller';
import { IngestMetrics } from './ingest-metrics';
import { IngestFromMemory } from './ingest-from-memory';
import { IngestGroupCommit } from './ingest-group-commit';
import { IngestPreview } from './ingest-preview';
import { IngestTransaction } from './ingest-transaction';
import { IngestService } from './ingest.service';
import { ProcessingReader } from './processing-reader';
import { QueueSignal } from './queue-signal';
import { RefusedCopies } from './refused-copies';
import { Timeline } from './timeline';

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
