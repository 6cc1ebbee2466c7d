import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ROWS_LOOKED_AT_MAX } from '../../platform/pagination/page';
import type { EventFamily } from '../domain/submission';

export interface SampledEvent {
  readonly eventId: string;
  readonly receivedAt: Date;
}

/** Finds stored events to try something on. */
@Injectable()
export class EventSample {
  constructor(private readonly database: DataSource) {}

  /**
   * The newest events of a type, of one family or any (null), at most `limit`, newest first; of those that are among the newest 20,000 of the workspace.
   * Those of erased persons are left out: they have no properties that could fit.
   */
  async newest(
    tenantId: string,
    family: EventFamily | null,
    eventType: string,
    limit: number,
  ): Promise<SampledEvent[]> {
    const rows: readonly { event_id: string; received_at: Date }[] = await this.database.query(
      `SELECT event_id, received_at FROM (
         SELECT event_id, received_at, family, event_type, content_hash FROM events
         WHERE tenant_id = $1 AND received_at > '-infinity' ORDER BY received_at DESC, event_id DESC LIMIT $5
       ) newest
       WHERE ($2::text IS NULL OR family = $2) AND event_type = $3 AND content_hash <> '' ORDER BY received_at DESC, event_id DESC LIMIT $4`,
      [tenantId, family, eventType, limit, ROWS_LOOKED_AT_MAX],
    );
    return rows.map((row) => ({ eventId: row.event_id, receivedAt: row.received_at }));
  }

  /** Whether one of the newest 20,000 events of the workspace, of either family, is of this type; ends at the first one. */
  async hasAny(tenantId: string, eventType: string): Promise<boolean> {
    const rows: readonly unknown[] = await this.database.query(
      `SELECT 1 FROM (
         SELECT event_type FROM events WHERE tenant_id = $1 AND received_at > '-infinity'
         ORDER BY received_at DESC, event_id DESC LIMIT $3
       ) newest
       WHERE event_type = $2 LIMIT 1`,
      [tenantId, eventType, ROWS_LOOKED_AT_MAX],
    );
    return rows.length > 0;
  }

  /** What those events say, as JSON text, in any order. */
  async propertiesOf(tenantId: string, eventIds: readonly string[]): Promise<string[]> {
    if (eventIds.length === 0) return [];
    const rows: readonly { properties: string }[] = await this.database.query(
      'SELECT properties::text AS properties FROM events WHERE tenant_id = $1 AND event_id = ANY ($2)',
      [tenantId, eventIds],
    );
    return rows.map(({ properties }) => properties);
  }
}
