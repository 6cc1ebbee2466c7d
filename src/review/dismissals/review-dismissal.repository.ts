import { Inject, Injectable } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { queryOf } from '../../platform/postgres/one-workspace';
import type { Statement } from '../../platform/postgres/statement';
import { removeOldWork } from '../../platform/jobs/kept-work';
import { UNFINISHED_STATES } from '../../platform/jobs/work-states';
import type { Dismissal } from '../domain/resolution';
import { NIL_UUID } from '../../platform/values/uuid';
import { filterParameters, matchesParameters, type ReviewFilter } from '../domain/review-filter';
import { ReviewDismissal } from './entities/review-dismissal.entity';

/** The entries that a step looks at: `limit` of them behind the id `after`. */
interface DismissalPage {
  readonly after: string;
  readonly limit: number;
  /** Entries whose problem occurred later stay open. */
  readonly seenBy: Date;
}

interface DismissedPage {
  /** The id of the last entry of the page; undefined: there was none. */
  readonly last: string | undefined;
  readonly dismissed: number;
}

const UNFINISHED = In(UNFINISHED_STATES);

/**
 * Closes the open entries of a page that match. It locks them in the order of their ids, as everything that changes
 * several, and finds each by its key (docs/adr/0092). $1 workspace, $2 and $3 the page, $4 resolution, $5 `seenBy`, $6 to
 * $9 the filter, in which null matches all.
 *
 * An entry that was last seen in the future was seen before the database's clock was set back. Nodes know that clock to
 * some milliseconds, so a minute is enough.
 */
export const DISMISS_PAGE: Statement = {
  name: 'review_dismiss_page',
  text: `
    WITH page AS MATERIALIZED (
      SELECT id FROM review_entries WHERE tenant_id = $1::uuid AND id > $2::uuid ORDER BY id LIMIT $3
    ), matching AS MATERIALIZED (
      SELECT e.tenant_id, e.id FROM page p
      CROSS JOIN LATERAL (
        SELECT tenant_id, id FROM review_entries
        WHERE tenant_id = $1::uuid AND id = p.id AND status = 'open'
          AND (last_seen_at <= $5 OR last_seen_at > statement_timestamp() + interval '1 minute')
          AND ${matchesParameters(6)}
        LIMIT 1 FOR UPDATE
      ) e
    ), closed AS (
      UPDATE review_entries e SET status = 'dismissed', closed_at = statement_timestamp(), resolution = $4::jsonb
      FROM matching m WHERE e.tenant_id = m.tenant_id AND e.id = m.id
      RETURNING 1
    )
    SELECT (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last, (SELECT count(*)::int FROM closed) AS dismissed`,
};

/** A note has up to 1,000 characters. */
const NOTES_PER_STATEMENT = 200;

const READ_NOTES = `
  SELECT id, note FROM review_dismissals WHERE tenant_id = $1 AND id > $2 AND note IS NOT NULL ORDER BY id LIMIT $3`;
const REMOVE_NOTES = `UPDATE review_dismissals SET note = NULL WHERE tenant_id = $1 AND id = ANY($2)`;

/** The table of bulk dismissals, and what they do to entries. */
@Injectable()
export class ReviewDismissalRepository {
  constructor(
    private readonly database: DataSource,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  /** Inserts a dismissal, and removes the oldest ones that are over. */
  async create(manager: EntityManager, dismissal: ReviewDismissal): Promise<void> {
    await manager.insert(ReviewDismissal, dismissal);
    await removeOldWork(manager, ReviewDismissal, dismissal.tenantId);
  }

  find(tenantId: string, id: string): Promise<ReviewDismissal | null> {
    return this.database.manager.findOneBy(ReviewDismissal, { tenantId, id });
  }

  /** Locks a dismissal that has not finished until the transaction ends: one process at a time works on it. */
  hold(manager: EntityManager, tenantId: string, id: string): Promise<ReviewDismissal | null> {
    const where = { tenantId, id, state: UNFINISHED };
    return manager.findOne(ReviewDismissal, { where, lock: { mode: 'pessimistic_write' } });
  }

  async dismiss(
    manager: EntityManager,
    tenantId: string,
    filter: ReviewFilter,
    { after, limit, seenBy }: DismissalPage,
    resolution: Dismissal,
  ): Promise<DismissedPage> {
    const values = [tenantId, after, limit, JSON.stringify(resolution), seenBy, ...filterParameters(filter)];
    const [row]: { last: string | null; dismissed: number }[] = await manager.query(
      ...queryOf(DISMISS_PAGE, values, this.connection),
    );
    return { last: row?.last ?? undefined, dismissed: row?.dismissed ?? 0 };
  }

  async advance(
    manager: EntityManager,
    { tenantId, id }: ReviewDismissal,
    position: string,
    dismissed: number,
  ): Promise<void> {
    await manager.query(
      `UPDATE review_dismissals SET state = 'running', position = $3, dismissed = dismissed + $4
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, position, dismissed],
    );
  }

  /** Waits for the step that is under way, which counts. */
  async cancel(tenantId: string, id: string, finishedAt: Date): Promise<void> {
    const unfinished = { tenantId, id, state: UNFINISHED };
    await this.database.manager.update(ReviewDismissal, unfinished, { state: 'cancelled', finishedAt });
  }

  /** Removes notes. Waits for steps that are under way: no entry gets such a note afterwards. */
  async removeNotes(manager: EntityManager, tenantId: string, isRemoved: (note: string) => boolean): Promise<void> {
    for (let after: string | undefined = NIL_UUID; after !== undefined;) {
      const values = [tenantId, after, NOTES_PER_STATEMENT];
      const rows: { id: string; note: string }[] = await manager.query(READ_NOTES, values);
      const ids = rows.filter(({ note }) => isRemoved(note)).map(({ id }) => id);
      if (ids.length > 0) await manager.query(REMOVE_NOTES, [tenantId, ids]);
      after = rows.length < NOTES_PER_STATEMENT ? undefined : rows.at(-1)?.id;
    }
  }

  async end(
    manager: EntityManager,
    { tenantId, id }: Pick<ReviewDismissal, 'tenantId' | 'id'>,
    state: 'done' | 'failed',
    finishedAt: Date,
  ): Promise<void> {
    await manager.update(ReviewDismissal, { tenantId, id, state: UNFINISHED }, { state, finishedAt });
  }
}
