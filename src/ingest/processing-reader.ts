import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import type { ProcessingView } from './domain/processing-record';
import { EventProcessing } from './entities/event-processing.entity';
import type { Event } from './entities/event.entity';
import { ProcessedBundle } from './entities/processed-bundle.entity';

/** Finds what became of events after they were taken. */
@Injectable()
export class ProcessingReader {
  constructor(private readonly database: DataSource) {}

  /** By event; those that wait for their first attempt are missing. */
  async of(tenantId: string, events: readonly Event[]): Promise<Map<string, ProcessingView>> {
    const alone = events.filter(({ queueBundleId }) => queueBundleId === null);
    const together = events.filter(({ queueBundleId }) => queueBundleId !== null);
    const found = await Promise.all([this.ofAlone(tenantId, alone), this.ofBundled(tenantId, together)]);
    return new Map(found.flat());
  }

  private async ofAlone(tenantId: string, events: readonly Event[]): Promise<[string, ProcessingView][]> {
    if (events.length === 0) return [];
    const eventIds = events.map(({ eventId }) => eventId);
    const found = await this.database.manager.findBy(EventProcessing, { tenantId, eventId: In(eventIds) });
    return found.map((processing) => [processing.eventId, processing]);
  }

  private async ofBundled(tenantId: string, events: readonly Event[]): Promise<[string, ProcessingView][]> {
    const ids = new Set(events.map(({ queueBundleId }) => queueBundleId));
    if (ids.size === 0) return [];
    const found = await this.database.manager.findBy(ProcessedBundle, { tenantId, id: In([...ids]) });
    const times = new Map(found.map(({ id, processedAt }) => [id, processedAt]));
    return events.flatMap(({ eventId, queueBundleId }): [string, ProcessingView][] => {
      const processedAt = times.get(queueBundleId ?? '');
      if (processedAt === undefined) return [];
      return [[eventId, { state: 'processed', attempts: 1, processedAt, lastError: null, reactions: [] }]];
    });
  }
}
