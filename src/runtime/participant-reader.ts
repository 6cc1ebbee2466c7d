import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TimeSlice } from '../platform/values/time-slice';
import { cursorAfterLookedAt, type LookedAtRow } from '../platform/pagination/id-key';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { valuesOf, type ParticipantDocument, type StoredValues, type SystemFields } from './domain/state-tree';

/** A participant of a campaign with the stored `user` values. */
export interface StoredParticipant {
  readonly subject: string;
  readonly values: StoredValues;
  readonly system: SystemFields;
}

/** Some participants in the order of the list, and where the list goes on; null at the end. */
export interface ParticipantPage {
  /** The database's time of the read, in epoch milliseconds. */
  readonly at: number;
  readonly participants: readonly StoredParticipant[];
  readonly nextCursor: string | null;
}

/**
 * Rows that one page may read (docs/adr/0012). Participants who changed only values of the campaign or the app have a
 * row but no value. A page with many of them is shorter, and its cursor goes on where it stopped.
 */
const ROWS_LOOKED_AT_MAX = 10_000;

/** Texts are JSON, parsed row by row. A row without values is not part of the page. */
interface ParticipantRow extends LookedAtRow {
  readonly subject: string;
  readonly values: string | null;
  readonly periods: string | null;
  readonly system: string;
  readonly at: number;
}

/** The bytes of an item beside its participant's values. */
const OTHER_FIELDS_BYTES = 128;

/**
 * One page of the participants of a campaign who have a value, the newest first. It ends after $4 of them or $5 bytes,
 * but has at least one. The next participant follows without values: the list goes on. At most $7 rows are read; the
 * last of them is always returned, since the next page begins after it.
 *
 * Parameters: $1 workspace, $2 campaign, $3 upper bound of ids, $4 participants, $5 bytes, $6 bytes of each beside its
 * stored values, $7 rows. Each row is one index probe, whatever size the planner assumes for the campaign. The size of
 * a document shows whether it holds a value, so it need not be decompressed for that. A row
 * without a subject is no participant: earlier versions locked it for reactions to shared values.
 */
export const READ_PARTICIPANTS = `
  WITH RECURSIVE page AS (
    SELECT 0 AS looked, 0 AS shown, 0::bigint AS bytes, $3::uuid AS id, NULL::text AS subject, NULL::text AS values,
      NULL::text AS periods, NULL::text AS system, false AS is_next
    UNION ALL
    SELECT p.looked + 1, p.shown + (s.values IS NOT NULL)::integer,
      p.bytes + coalesce(${OTHER_FIELDS_BYTES} + $6::integer + octet_length(s.subject) + octet_length(s.values), 0),
      s.id, s.subject, s.values, s.periods, s.system, s.has_value AND s.values IS NULL
    FROM page p
    CROSS JOIN LATERAL (
      SELECT id, subject, has_value, CASE WHEN has_value AND p.shown < $4 AND p.bytes < $5 THEN values::text END AS values,
        periods::text AS periods, system::text AS system
      FROM (
        SELECT id, subject, values, periods, system, pg_column_size(values) > pg_column_size('{}'::jsonb) AS has_value
        FROM participant_states
        WHERE tenant_id = $1 AND campaign_id = $2 AND subject <> '' AND id < p.id ORDER BY id DESC LIMIT 1
      ) following
      OFFSET 0 -- each text is made once
    ) s
    WHERE NOT p.is_next AND p.looked < $7
  )
  SELECT id, subject, values, periods, system, is_next AS "isNext", looked,
    date_part('epoch', clock_timestamp()) * 1000 AS at
  FROM page
  WHERE values IS NOT NULL OR is_next OR looked = $7
  ORDER BY looked`;

/** Lists the participants of a campaign (docs/adr/0053). */
@Injectable()
export class ParticipantReader {
  constructor(private readonly database: DataSource) {}

  /**
   * One page of the participants below the id `before`, the newest first, in one statement. `defaultsBytes`: the bytes
   * of a participant's defaults, which count towards the bytes of the page (docs/adr/0038).
   */
  async list(
    tenantId: string,
    campaignId: string,
    before: string,
    { limit, defaultsBytes }: { readonly limit: number; readonly defaultsBytes: number },
  ): Promise<ParticipantPage> {
    const rows: ParticipantRow[] = await this.database.query(READ_PARTICIPANTS, [
      tenantId,
      campaignId,
      before,
      limit,
      PAGE_BYTES_MAX,
      defaultsBytes,
      ROWS_LOOKED_AT_MAX,
    ]);
    const slice = new TimeSlice();
    const participants: StoredParticipant[] = [];
    for (const { subject, values, periods, system } of rows) {
      await slice.pause();
      if (values !== null) participants.push({ subject, ...storedDocument(values, periods, system) });
    }
    const lastShown = rows.findLast(({ values }) => values !== null);
    const [{ at } = { at: 0 }] = rows;
    return { at, participants, nextCursor: cursorAfterLookedAt(rows, lastShown, ROWS_LOOKED_AT_MAX) };
  }
}

/** What the JSON texts of a row say. */
export function storedDocument(
  valuesText: string,
  periodsText: string | null,
  systemText: string,
): Pick<StoredParticipant, 'values' | 'system'> {
  const { sessionId = null } = JSON.parse(systemText) as Partial<SystemFields>;
  const values = JSON.parse(valuesText) as ParticipantDocument['values'];
  const periods = periodsText === null ? null : (JSON.parse(periodsText) as ParticipantDocument['periods']);
  return { values: valuesOf({ values, periods }), system: { sessionId } };
}
