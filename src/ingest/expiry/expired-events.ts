import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { FIND_EXPIRED } from './event-expiry.sql';

/** Knows which events have expired: of those only the deduplication key is left (contract section 11). */
@Injectable()
export class ExpiredEvents {
  constructor(private readonly database: DataSource) {}

  /** To be asked after the event was not found: an expired one is recorded before its row goes. */
  async has(tenantId: string, eventId: string): Promise<boolean> {
    const rows: unknown[] = await this.database.query(FIND_EXPIRED.text, [tenantId, eventId]);
    return rows.length > 0;
  }
}
