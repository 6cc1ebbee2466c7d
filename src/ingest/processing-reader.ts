import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { EventProcessing } from './entities/event-processing.entity';

/** Finds what became of events after they were taken. */
@Injectable()
export class ProcessingReader {
  constructor(private readonly database: DataSource) {}

  /** By event; those that wait for their first attempt are missing. */
  async of(tenantId: string, eventIds: readonly string[]): Promise<Map<string, EventProcessing>> {
    if (eventIds.length === 0) return new Map();
    const found = await this.database.manager.findBy(EventProcessing, { tenantId, eventId: In([...eventIds]) });
    return new Map(found.map((processing) => [processing.eventId, processing]));
  }
}
