import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '../identity/identity.module';
import { IngestModule } from '../ingest/ingest.module';
import { ReviewModule } from '../review/review.module';
import { EventEffects } from './effects';
import { ParkedEvent } from './entities/parked-event.entity';
import { ProcessingCount } from './entities/processing-count.entity';
import { QueueLease } from './entities/queue-lease.entity';
import { QueueTurn } from './entities/queue-turn.entity';
import { WaitingEvent } from './entities/waiting-event.entity';
import { EventPreviews } from './event-previews';
import { EventWorker } from './event-worker';
import { SerialConnection } from './serial-connection';
import { ParkedEvents } from './parked-events';
import { ParkedRetry } from './parked-retry';
import { QueueStatistics } from './queue-statistics';
import { ProcessingMetrics } from './processing-metrics';
import { ProcessingReplay } from './processing-replay';
import { ProcessingController } from './processing.controller';
import { QueueBatch } from './queue-batch';
import { QueuedBundles } from './queued-bundles';
import { QueueLeases } from './queue-leases';
import { QueueOrder } from './queue-order';
import { QueueTurns } from './queue-turns';
import { EventProcessor } from './event-processor';
import { EventWindows } from './event-window';
import { DequeuedEvents } from './dequeued-events';
import { WaitingEvents } from './waiting-events';
import { WaitingEventsRetention } from './waiting-events-retention';

@Module({
  imports: [
    TypeOrmModule.forFeature([QueueLease, QueueTurn, ParkedEvent, ProcessingCount, WaitingEvent]),
    IngestModule,
    IdentityModule,
    ReviewModule,
  ],
  controllers: [ProcessingController],
  providers: [
    EventEffects,
    EventWorker,
    QueueBatch,
    QueuedBundles,
    QueueLeases,
    QueueOrder,
    QueueTurns,
    EventProcessor,
    WaitingEvents,
    WaitingEventsRetention,
    ParkedEvents,
    ParkedRetry,
    SerialConnection,
    ProcessingReplay,
    EventWindows,
    DequeuedEvents,
    EventPreviews,
    QueueStatistics,
    ProcessingMetrics,
  ],
  exports: [EventEffects, EventPreviews, EventWindows, EventWorker, DequeuedEvents, ProcessingReplay, SerialConnection],
})
export class ProcessingModule {}
