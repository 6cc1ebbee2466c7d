import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ROWS_LOOKED_AT_MAX } from '../platform/pagination/page';

export interface SampledRefusal {
  /** The id of the entry. */
  readonly id: string;
  readonly refusedAt: Date;
}

/** A larger payload cannot be an event. A batch may contain an item of up to 5 MiB. */
const PAYLOAD_BYTES_MAX = 256 * 1024;

/** Reads a sample of refused events. */
@Injectable()
export class RefusalSample {
  constructor(private readonly database: DataSource) {}

  /**
   * The newest refused events of a type, at most `limit`, newest first, each once. Considers the newest 20,000 entries,
   * and of these only events with a whole payload that were not accepted later. Of those of erased persons nothing is
   * stored but which events they were.
   */
  async newest(tenantId: string, family: string, eventType: string, limit: number): Promise<SampledRefusal[]> {
    const rows: readonly { id: string; first_seen_at: Date }[] = await this.database.query(
      `SELECT id, first_seen_at FROM (
         SELECT id, first_seen_at, row_number() OVER (
           PARTITION BY coalesce(event_id, id) ORDER BY first_seen_at DESC, id DESC
         ) AS place
         FROM (
           SELECT id, event_id, first_seen_at, family, event_type, severity, stage, status, payload, payload_form,
             payload_state
           FROM review_entries
           WHERE tenant_id = $1 AND first_seen_at > '-infinity' ORDER BY first_seen_at DESC, id DESC LIMIT $5
         ) newest
         WHERE family = $2 AND event_type = $3 AND severity = 'error' AND stage <> 'processing' AND status IN ('open', 'dismissed')
           AND payload_form = 'json' AND payload_state IS DISTINCT FROM 'removed' AND octet_length(payload) <= $6
       ) fitting
       WHERE place = 1 ORDER BY first_seen_at DESC, id DESC LIMIT $4`,
      [tenantId, family, eventType, limit, ROWS_LOOKED_AT_MAX, PAYLOAD_BYTES_MAX],
    );
    return rows.map((row) => ({ id: row.id, refusedAt: row.first_seen_at }));
  }

  /** The payloads of entries as JSON text, in any order. What was removed, or replaced by other text meanwhile, is missing. */
  async payloadsOf(tenantId: string, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows: readonly { payload: string }[] = await this.database.query(
      `SELECT payload FROM review_entries
       WHERE tenant_id = $1 AND id = ANY ($2) AND payload IS NOT NULL AND payload_form = 'json'`,
      [tenantId, ids],
    );
    return rows.map(({ payload }) => payload);
  }
}
