import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { decodeCursor, encodeCursor } from '../platform/pagination/cursor';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { notACursor } from '../platform/pagination/time-key';
import { PATH_NAME } from '../platform/values/text/path-name';
import { TimeSlice } from '../platform/values/time-slice';
import { VariablesService } from '../variables/variables.service';
import { readBranch, type StateBranch, type SystemFields } from './domain/state-tree';
import { storedDocument } from './participant-reader';

/** The state of a person in one campaign. */
export interface CampaignState {
  readonly campaignId: string;
  /** The declared variables of scope `user`. */
  readonly user: StateBranch;
  readonly system: SystemFields;
  readonly updatedAt: Date;
}

export interface CampaignStatePage {
  readonly states: readonly CampaignState[];
  /** Null at the end. */
  readonly nextCursor: string | null;
}

/** Rows that one page may read, as for participants (docs/adr/0012); those without values are not shown. */
const ROWS_LOOKED_AT_MAX = 10_000;

interface StateRow {
  readonly campaignId: string;
  /** JSON text, like the next two. Null: the row has no value, or is the first of the next page. */
  readonly values: string | null;
  readonly periods: string | null;
  readonly system: string;
  readonly updatedAt: Date;
  readonly isNext: boolean;
  readonly looked: number;
  readonly at: number;
}

/**
 * One page of a person's states that have a value, by campaign. It ends after $4 of them or $5 bytes, but has at least one.
 * The next one follows without values. At most $6 rows are read; the last of them is always returned.
 *
 * Parameters: $1 workspace, $2 subject, $3 the campaign before, $4 states, $5 bytes, $6 rows. Each row is one probe of the
 * primary key, whose subject is no constant for the planner (docs/adr/0092). The size of a document shows whether it holds
 * a value, so it need not be decompressed for that.
 */
export const READ_CAMPAIGN_STATES = `
  WITH RECURSIVE page AS (
    SELECT 0 AS looked, 0 AS shown, 0::bigint AS bytes, $2::text AS subject, $3::text AS campaign_id,
      NULL::text AS values, NULL::text AS periods, NULL::text AS system, NULL::timestamptz AS updated_at, false AS is_next
    UNION ALL
    SELECT p.looked + 1, p.shown + (s.values IS NOT NULL)::integer, p.bytes + coalesce(octet_length(s.values), 0),
      p.subject, s.campaign_id, s.values, s.periods, s.system, s.updated_at, s.has_value AND s.values IS NULL
    FROM page p
    CROSS JOIN LATERAL (
      SELECT campaign_id, updated_at, has_value, periods::text AS periods, system::text AS system,
        CASE WHEN has_value AND p.shown < $4 AND p.bytes < $5 THEN values::text END AS values
      FROM (
        SELECT campaign_id, values, periods, system, updated_at,
          pg_column_size(values) > pg_column_size('{}'::jsonb) AS has_value
        FROM participant_states
        WHERE tenant_id = $1 AND subject = p.subject AND campaign_id > p.campaign_id ORDER BY campaign_id LIMIT 1
      ) following
      OFFSET 0 -- each text is made once
    ) s
    WHERE NOT p.is_next AND p.looked < $6
  )
  SELECT campaign_id AS "campaignId", values, periods, system, updated_at AS "updatedAt", is_next AS "isNext", looked,
    date_part('epoch', clock_timestamp()) * 1000 AS at
  FROM page
  WHERE values IS NOT NULL OR is_next OR looked = $6
  ORDER BY looked`;

/** Lists the campaigns in which a person has `user` values, with these values (docs/adr/0078). */
@Injectable()
export class CampaignStates {
  constructor(
    private readonly database: DataSource,
    private readonly variables: VariablesService,
  ) {}

  /**
   * One page, by campaign; nobody's (null) is empty. It also ends where the shown values, with the defaults of each campaign, are large. Throws
   * `validation_failed` for text that is no cursor.
   */
  async list(
    tenantId: string,
    subject: string | null,
    cursor: string | undefined,
    limit: number,
  ): Promise<CampaignStatePage> {
    const after = campaignBefore(cursor);
    if (subject === null) return { states: [], nextCursor: null };
    const rows: StateRow[] = await this.database.query(READ_CAMPAIGN_STATES, [
      ...[tenantId, subject, after, limit, PAGE_BYTES_MAX, ROWS_LOOKED_AT_MAX],
    ]);
    const slice = new TimeSlice();
    const states: CampaignState[] = [];
    let bytes = 0;
    for (const { campaignId, values, periods, system, updatedAt, at } of rows) {
      if (values === null) continue;
      const last = states.at(-1);
      if (last !== undefined && bytes >= PAGE_BYTES_MAX) return { states, nextCursor: encodeCursor([last.campaignId]) };
      await slice.pause();
      const declared = await this.variables.declarationsOf(tenantId, campaignId);
      const stored = storedDocument(values, periods, system);
      const user = readBranch(declared, 'user', stored.values, at);
      bytes += Buffer.byteLength(JSON.stringify(user));
      states.push({ campaignId, user, system: stored.system, updatedAt });
    }
    return { states, nextCursor: cursorAfterRows(rows, states.at(-1)) };
  }
}

/** Behind the last state that is shown where another follows, else behind the last row that a page may read. */
function cursorAfterRows(rows: readonly StateRow[], lastShown: CampaignState | undefined): string | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  if (last.isNext) return encodeCursor([(lastShown ?? last).campaignId]);
  return last.looked === ROWS_LOOKED_AT_MAX ? encodeCursor([last.campaignId]) : null;
}

function campaignBefore(cursor: string | undefined): string {
  if (cursor === undefined) return '';
  const [campaignId] = decodeCursor(cursor, 1) ?? [];
  if (campaignId === undefined || !PATH_NAME.test(campaignId)) throw notACursor();
  return campaignId;
}
