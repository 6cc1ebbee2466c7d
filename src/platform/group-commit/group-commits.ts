import { Inject, Injectable } from '@nestjs/common';
import { unavailable } from '../errors/unavailable';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../postgres/connection-settings';
import { databaseRefusal } from '../postgres/database-errors';
import { connectionToNode } from '../postgres/distribution/node-connections';
import { WorkspaceNodes } from '../postgres/distribution/workspace-nodes';
import type { PipelinedConnection, PipelinedConnectionOptions } from '../postgres/pipelined-connection';
import { GroupCommit, type Commits, type GroupCommitOptions, type SizedWork } from './group-commit';
import { GroupCommitMetrics } from './group-commit-metrics';

/** The limits of each group commit, and of its connection. */
interface CommitsOptions
  extends Omit<GroupCommitOptions<never, never>, 'run' | 'groupOf' | 'watch'>, PipelinedConnectionOptions {
  /** Its label in metrics and traces, if it is measured. */
  readonly name?: string;
}

/** Returns what runs the batches of a group commit on its connection. Called once for each connection. */
type RunOn<Work, Answer> = (connection: PipelinedConnection) => GroupCommitOptions<Work, Answer>['run'];

/**
 * Makes the group commits of features, each with a connection of its own. On a distributed database a feature has one for
 * each worker node (docs/adr/0090).
 */
@Injectable()
export class GroupCommits {
  constructor(
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
    private readonly nodes: WorkspaceNodes,
    private readonly metrics: GroupCommitMetrics,
  ) {}

  open<Work, Answer>(options: CommitsOptions, runOn: RunOn<Work, Answer>): Commits<Work, Answer> {
    const watch = options.name === undefined ? undefined : this.metrics.of(options.name);
    const { isOneWorkspace, isDistributed } = this.settings;
    const openOn = (url: string): Commits<Work, Answer> => {
      const connection = connectionToNode({ ...this.settings, url }, this.nodes, options);
      // Workspaces of one shard share commits; of others a transaction has one workspace.
      const groupOf = (tenantId: string): string => connection.shardOf(tenantId) ?? tenantId;
      const limits = isOneWorkspace === true ? { ...options, groupOf } : options;
      return new ConnectedGroupCommit({ ...limits, run: runOn(connection), watch }, connection);
    };
    return isDistributed === true ? new GroupCommitPerNode(this.nodes, openOn) : openOn(this.settings.url);
  }
}

/** A group commit that closes its connection behind the last batch. */
class ConnectedGroupCommit<Work, Answer> extends GroupCommit<Work, Answer> {
  constructor(
    options: GroupCommitOptions<Work, Answer>,
    private readonly connection: PipelinedConnection,
  ) {
    super(options);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.connection.close();
  }
}

/** Finds the node of a workspace; a promise only where it has to be looked up. */
interface Nodes {
  of(tenantId: string): string | Promise<string>;
}

/**
 * A group commit for each node of a distributed database, connected to that node. A node that hangs or is down delays the
 * work of its own workspaces only. Limits of bytes are those of each node.
 */
export class GroupCommitPerNode<Work, Answer> implements Commits<Work, Answer> {
  /** By the addresses of their nodes. */
  private readonly opened = new Map<string, Commits<Work, Answer>>();
  private isClosed = false;

  constructor(
    private readonly nodes: Nodes,
    private readonly openOn: (node: string) => Commits<Work, Answer>,
  ) {}

  async submit(tenantId: string, piece: SizedWork<Work>): Promise<Answer> {
    const found = this.find(tenantId);
    return (found instanceof Promise ? await found : found).submit(tenantId, piece);
  }

  async submitBulk(tenantId: string, pieces: readonly SizedWork<Work>[]): Promise<Answer[]> {
    const found = this.find(tenantId);
    return (found instanceof Promise ? await found : found).submitBulk(tenantId, pieces);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.opened.values()].map((commits) => commits.close()));
  }

  /** At once where the node is known, so that work is taken before `close`. */
  private find(tenantId: string): Commits<Work, Answer> | Promise<Commits<Work, Answer>> {
    const node = this.nodes.of(tenantId);
    if (!(node instanceof Promise)) return this.on(node);
    return node.then(
      (found) => this.on(found),
      (error: unknown) => {
        throw databaseRefusal(error) ?? error;
      },
    );
  }

  private on(node: string): Commits<Work, Answer> {
    if (this.isClosed) throw unavailable();
    const known = this.opened.get(node);
    if (known !== undefined) return known;
    const opened = this.openOn(node);
    this.opened.set(node, opened);
    return opened;
  }
}
