import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../connection-settings';
import type { Statement } from '../statement';
import { WorkspaceNodes } from './workspace-nodes';

const TAKE_NUMBER: Statement = { name: 'platform_take_number', text: 'SELECT pg_current_xact_id()' };

/** A snapshot lists transactions of all databases of the server. What cannot be seen to be of another one counts. */
const READ_OPEN: Statement = {
  name: 'platform_open_transactions',
  text: `
    SELECT xip::text AS id FROM pg_snapshot_xip(pg_current_snapshot()) AS xip
    WHERE NOT EXISTS (
      SELECT FROM pg_stat_activity WHERE backend_xid = xip::xid AND datname <> current_database()
    ) AND NOT EXISTS (
      SELECT FROM pg_prepared_xacts WHERE transaction = xip::xid AND database <> current_database()
    )`,
};

/**
 * The transactions that write to the database of a workspace. On a distributed one these are asked of the node that holds the rows
 * of the workspace, where each writer has a number, by whichever node its statements came.
 */
@Injectable()
export class OpenTransactions {
  constructor(
    private readonly database: DataSource,
    private readonly nodes: WorkspaceNodes,
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
  ) {}

  /** Begins and ends a transaction: those that have begun before it have smaller numbers, and `of` lists them. */
  async takeNumber(tenantId: string): Promise<void> {
    await this.query(tenantId, TAKE_NUMBER);
  }

  /** Those that write now, as the server numbers them, up to the last one that has ended. */
  async of(tenantId: string): Promise<readonly string[]> {
    return (await this.query<{ id: string }>(tenantId, READ_OPEN)).map(({ id }) => id);
  }

  private query<T>(tenantId: string, statement: Statement): Promise<readonly T[]> {
    return this.settings.isDistributed === true
      ? this.nodes.query<T>(tenantId, statement, [])
      : this.database.query<T[]>(statement.text);
  }
}
