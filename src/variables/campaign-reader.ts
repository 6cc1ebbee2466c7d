import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { decodeCursor, encodeCursor } from '../platform/pagination/cursor';
import { pageOf, type Page } from '../platform/pagination/page';
import { notACursor } from '../platform/pagination/time-key';
import { PATH_NAME } from '../platform/values/text/path-name';
import { parseTimestamp } from '../platform/values/timestamp';
import { ReactionCounter } from './reaction-counter';

/** A campaign with what it has. */
export interface ListedCampaign {
  readonly campaignId: string;
  readonly createdAt: Date;
  /** In force. */
  readonly variables: number;
  readonly reactions: number;
}

interface CampaignKey {
  readonly at: Date;
  readonly campaignId: string;
}

/** Behind everything that is stored. */
const NEWEST: CampaignKey = { at: new Date('9999-12-31T23:59:59.999Z'), campaignId: '' };

/**
 * One page of campaigns, newest first. Parameters: $1 workspace, $2 and $3 the key of the last campaign of the page before,
 * $4 campaigns. Of each the variables in force are counted: at most `VARIABLES_PER_SCOPE_MAX` for each scope.
 */
export const READ_CAMPAIGNS = `
  SELECT c.campaign_id AS "campaignId", c.created_at AS "createdAt", v.variables
  FROM (
    SELECT campaign_id, created_at FROM campaigns
    WHERE tenant_id = $1 AND created_at > '-infinity' AND (created_at, campaign_id) < ($2::timestamptz, $3::text)
    ORDER BY created_at DESC, campaign_id DESC LIMIT $4
  ) c
  CROSS JOIN LATERAL (
    SELECT count(*)::integer AS variables FROM variables
    WHERE tenant_id = $1 AND campaign_id = c.campaign_id AND archived_at IS NULL
  ) v
  ORDER BY c.created_at DESC, c.campaign_id DESC`;

/**
 * Lists campaigns. A campaign begins with its first variable: reactions and values need one. It stays in the list, since
 * values of archived variables are kept.
 */
@Injectable()
export class CampaignReader {
  constructor(
    private readonly database: DataSource,
    private readonly reactions: ReactionCounter,
  ) {}

  /** One page, newest first. Throws `validation_failed` for text that is no cursor. */
  async list(tenantId: string, cursor: string | undefined, limit: number): Promise<Page<ListedCampaign>> {
    const { at, campaignId } = startOf(cursor);
    // One more than the page shows whether there is a next page.
    const found: Omit<ListedCampaign, 'reactions'>[] = await this.database.query(READ_CAMPAIGNS, [
      ...[tenantId, at, campaignId, limit + 1],
    ]);
    const page = pageOf(found, limit, (last) => encodeCursor([last.createdAt.toISOString(), last.campaignId]));
    const ids = page.rows.map((each) => each.campaignId);
    const reactions = ids.length === 0 ? new Map<string, number>() : await this.reactions.countOf(tenantId, ids);
    return {
      ...page,
      rows: page.rows.map((each) => ({ ...each, reactions: reactions.get(each.campaignId) ?? 0 })),
    };
  }
}

function startOf(cursor: string | undefined): CampaignKey {
  if (cursor === undefined) return NEWEST;
  const [at, campaignId] = decodeCursor(cursor, 2) ?? [];
  const time = parseTimestamp(at ?? '');
  if (campaignId === undefined || !PATH_NAME.test(campaignId) || !('at' in time)) throw notACursor();
  return { at: new Date(time.at), campaignId };
}
