import { Inject, Injectable } from '@nestjs/common';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../postgres/connection-settings';
import { WorkspaceNodes } from '../postgres/distribution/workspace-nodes';
import { PipelinedConnection, type PipelinedConnectionOptions } from '../postgres/pipelined-connection';
import { GroupCommit, type Commits, type GroupCommitOptions } from './group-commit';
import { GroupCommitMetrics } from './group-commit-metrics';
import { GroupCommitPerNode } from './group-commit-per-node';

/** The limits of each group commit, and of its connection. */
interface CommitsOptions
  extends Omit<GroupCommitOptions<never, never>, 'run' | 'isOneWorkspace' | 'watch'>, PipelinedConnectionOptions {
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
      const connection = new PipelinedConnection({ ...this.settings, url }, options);
      return new ConnectedGroupCommit({ ...options, run: runOn(connection), isOneWorkspace, watch }, connection);
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
