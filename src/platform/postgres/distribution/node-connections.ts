import type { ConnectionSettings } from '../connection-settings';
import { PipelinedConnection, type PipelinedConnectionOptions, type Transaction } from '../pipelined-connection';
import type { WorkspaceNodes } from './workspace-nodes';

/**
 * The connections of one owner, which has one transaction at a time: one connection to one PostgreSQL; on a distributed database
 * one to each node that has work (docs/adr/0093), opened when it is first needed.
 */
export class NodeConnections {
  private readonly opened = new Map<string, PipelinedConnection>();

  constructor(
    private readonly settings: ConnectionSettings,
    private readonly nodes: WorkspaceNodes,
    private readonly options: PipelinedConnectionOptions,
  ) {}

  /** `PipelinedConnection.transaction` on the node of a workspace. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>, tenantId: string): Promise<T> {
    const { isDistributed, url } = this.settings;
    const node = isDistributed === true ? await this.nodes.of(tenantId) : url;
    return this.to(node).transaction(work, [{ tenantId }]);
  }

  async close(): Promise<void> {
    await Promise.all([...this.opened.values()].map((connection) => connection.close()));
  }

  private to(node: string): PipelinedConnection {
    const known = this.opened.get(node);
    if (known !== undefined) return known;
    const opened = connectionToNode({ ...this.settings, url: node }, this.nodes, this.options);
    this.opened.set(node, opened);
    return opened;
  }
}

/** A connection whose transactions use the shards of its node by their names. `url`: the node. */
export function connectionToNode(
  { url, ...settings }: ConnectionSettings,
  nodes: WorkspaceNodes,
  options: PipelinedConnectionOptions,
): PipelinedConnection {
  if (settings.isDistributed !== true) return new PipelinedConnection({ ...settings, url }, options);
  return new PipelinedConnection(
    { ...settings, url },
    { ...options, shardsOf: (tenantId) => nodes.shardsOn(url, tenantId) },
  );
}
