import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { WorkspaceNodes } from '../../platform/postgres/distribution/workspace-nodes';
import type { Statement } from '../../platform/postgres/statement';
import { EVENT_WRITERS, EVENT_WRITERS_ON_NODE } from '../store/event-writers';

/**
 * Transactions that write events hold this lock from before they stamp `received_at` until their rows are visible to others. So an
 * event that is not visible to a later statement was stamped after the start of such a transaction, or after this statement.
 * A session of another role does not show when its transaction began: ten minutes are more than any of ours may last.
 *
 * The second is for a clock that is set back a little. Sessions whose transaction has ended meanwhile have no start, or a later one.
 */
const readWatermark = (margin: string, writers: string): string => `
  SELECT date_trunc('milliseconds', least(statement_timestamp() - interval '${margin}', (
    SELECT min(CASE
      WHEN session.state IS NULL OR session.state = 'disabled' THEN statement_timestamp() - interval '10 minutes'
      ELSE session.xact_start
    END)
    FROM (SELECT writing.pid ${writers}) writer
    JOIN pg_stat_activity session USING (pid)
  ))) AS at`;

const READ_WATERMARK = readWatermark('1 second', EVENT_WRITERS);
/**
 * For the node of a workspace: the clock and the transactions by which its events are stamped. Just after a shard was moved
 * they are those of its former node, for a second and the time limit of a statement.
 */
const READ_WATERMARK_OF_NODE: Statement = {
  name: 'ingest_read_watermark',
  text: readWatermark('5 seconds', EVENT_WRITERS_ON_NODE),
};

/** Up to which time of receipt the log of events is complete (docs/adr/0061). */
@Injectable()
export class ReceiptWatermark {
  constructor(
    private readonly database: DataSource,
    private readonly nodes: WorkspaceNodes,
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
  ) {}

  /**
   * A whole millisecond. A statement that begins now sees every event that was or will be received before it, other than replays,
   * which keep their first time of receipt. Usually a second ago, five on a distributed database; earlier while a transaction
   * that writes events is open.
   */
  async read(tenantId: string): Promise<Date> {
    const rows: readonly { at: Date }[] =
      this.settings.isDistributed === true
        ? await this.nodes.query(tenantId, READ_WATERMARK_OF_NODE, [])
        : await this.database.query(READ_WATERMARK);
    const [row] = rows;
    if (row === undefined) throw new Error('The database did not say up to which time events are complete');
    return row.at;
  }
}
