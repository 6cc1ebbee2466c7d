import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TimeSlice } from '../platform/values/time-slice';
import { cursorAfterLookedAt, type LookedAtRow } from '../platform/pagination/id-key';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { valuesOf, type ParticipantDocument, type StoredValues, type SystemFields } from './domain/state-tree';

/** A participant of a campaign with the own values that are stored. */
export interface StoredParticipant {
  readonly subject: string;
  readonly values: StoredValues;
  readonly system: SystemFields;
}

/** Some participants in the order of the list, and where it goes on; null at the end. */
export interface ParticipantPage {
  readonly participants: readonly StoredParticipant[];
  readonly nextCursor: string | null;
}

/**
 * Rows that one page may look at (docs/adr/0012): participants who have changed values of the campaign or the app alone are among
 * them. Such a page comes short, and its cursor goes on where it stopped.
 */
const ROWS_LOOKED_AT_MAX = 10_000;

/** Texts are JSON, which is parsed row by row. Without values the row is none of the page. */
interface ParticipantRow extends LookedAtRow {
  readonly subject: string;
  readonly values: string | null;
  readonly system: string;
}

/** What an item says besides its participant's values. */
const OTHER_FIELDS_BYTES = 128;

/**
 * Participants of campaign $2 below the id $3, the newest first, until $4 of them who have a value are shown, or they weigh $5
 * bytes; one in any case. $6: what is shown of each beside the stored values, in bytes. The next one comes without values, and says
 * that the list goes on. At most $7 rows are looked at, of which the last one comes in any case: the next page begins behind it.
 *
 * Each row is looked up by the index when the ones before it leave room, whatever the planner believes of the size of a campaign. The
 * size of a document tells whether it holds a value, so that none is unpacked for that. A ledger (`mutation-work.ts`) has no subject.
 */
export const READ_PARTICIPANTS = `
  WITH RECURSIVE page AS (
    SELECT 0 AS looked, 0 AS shown, 0::bigint AS bytes, $3::uuid AS id, NULL::text AS subject, NULL::text AS values,
      NULL::text AS system, false AS is_next
    UNION ALL
    SELECT p.looked + 1, p.shown + (s.values IS NOT NULL)::integer,
      p.bytes + coalesce(${OTHER_FIELDS_BYTES} + $6::integer + octet_length(s.subject) + octet_length(s.values), 0),
      s.id, s.subject, s.values, s.system, s.has_value AND s.values IS NULL
    FROM page p
    CROSS JOIN LATERAL (
      SELECT id, subject, has_value, CASE WHEN has_value AND p.shown < $4 AND p.bytes < $5 THEN values::text END AS values,
        system::text AS system
      FROM (
        SELECT id, subject, values, system, pg_column_size(values) > pg_column_size('{}'::jsonb) AS has_value
        FROM participant_states
        WHERE tenant_id = $1 AND campaign_id = $2 AND subject <> '' AND id < p.id ORDER BY id DESC LIMIT 1
      ) following
      OFFSET 0 -- each text is made once
    ) s
    WHERE NOT p.is_next AND p.looked < $7
  )
  SELECT id, subject, values, system, is_next AS "isNext", looked FROM page
  WHERE values IS NOT NULL OR is_next OR looked = $7
  ORDER BY looked`;

/** Lists the participants of a campaign (docs/adr/0053). */
@Injectable()
export class ParticipantReader {
  constructor(private readonly database: DataSource) {}

  /**
   * One page of those below the id `before`, the newest first, in one statement. `defaultsBytes`: what a participant without any of
   * these values is shown, which counts towards the bytes of the page (docs/adr/0038).
   */
  async list(
    tenantId: string,
    campaignId: string,
    before: string,
    { limit, defaultsBytes }: { readonly limit: number; readonly defaultsBytes: number },
  ): Promise<ParticipantPage> {
    const rows: ParticipantRow[] = await this.database.query(READ_PARTICIPANTS, [
      ...[tenantId, campaignId, before, limit, PAGE_BYTES_MAX, defaultsBytes, ROWS_LOOKED_AT_MAX],
    ]);
    const slice = new TimeSlice();
    const participants: StoredParticipant[] = [];
    for (const { subject, values, system } of rows) {
      await slice.pause();
      if (values !== null) participants.push({ subject, ...parsed(values, system) });
    }
    const lastShown = rows.findLast(({ values }) => values !== null);
    return { participants, nextCursor: cursorAfterLookedAt(rows, lastShown, ROWS_LOOKED_AT_MAX) };
  }
}

function parsed(valuesText: string, systemText: string): Pick<StoredParticipant, 'values' | 'system'> {
  const { sessionId = null } = JSON.parse(systemText) as Partial<SystemFields>;
  const system = { sessionId };
  const values = valuesOf({ values: JSON.parse(valuesText) as ParticipantDocument['values'], system });
  return { values, system };
}
