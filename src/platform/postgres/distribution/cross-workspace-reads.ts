import { Inject, Injectable } from '@nestjs/common';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../connection-settings';
import { databaseFailure, sqlStateOf, UNDEFINED_TABLE } from '../database-errors';
import { ShardStatements } from '../shard-names';
import type { Statement } from '../statement';
import { onShards, type NodeShards } from './shards';
import { WorkspaceNodes } from './workspace-nodes';

/** Runs one statement. */
type Reading = <T>(statement: Statement, values: readonly unknown[]) => Promise<readonly T[]>;

type Query = readonly [statement: Statement, values: readonly unknown[]];

/** A statement that reads workspaces in the order of their keys, up to a limit. */
interface CrossWorkspaceRead<Row> {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly most: number;
  /** The order of the rows. */
  readonly compare: (a: Row, b: Row) => number;
}

/** A node that did not answer is asked again after so long, because a poll waits for the slowest. */
const ASK_AGAIN_MS = 2_000;

/** Ids as PostgreSQL orders them. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/**
 * Reads that look through all workspaces for something to do. On a distributed database such a statement runs on each node by
 * itself, for each shard under the name that it has there: it may be recursive, costs the coordinator nothing, and a node that
 * is down hides its own workspaces only. It must only read, and what it finds must be looked at
 * again: while a shard is being moved, its former place may be read.
 */
@Injectable()
export class CrossWorkspaceReads {
  private readonly statements = new ShardStatements<NodeShards>();
  private made = 0;
  /** Nodes that did not answer, and when they are asked again, by the monotonic clock. */
  private readonly away = new Map<string, number>();

  constructor(
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
    private readonly nodes: WorkspaceNodes,
  ) {}

  /** The first rows. Throws what the database throws, on a distributed one only if no node has answered. */
  async first<Row>(
    read: Reading,
    { statement, values, most, compare }: CrossWorkspaceRead<Row>,
  ): Promise<readonly Row[]> {
    if (this.settings.isDistributed !== true) return read<Row>(statement, values);
    const rows = await this.askNodes<Row>((shards) => [this.statementOn(shards, statement), values]);
    return rows.toSorted(compare).slice(0, most);
  }

  /** The rows of a statement about a server itself, of each that holds workspaces. */
  async ofServers<Row>(read: Reading, statement: Statement): Promise<readonly Row[]> {
    if (this.settings.isDistributed !== true) return read<Row>(statement, []);
    return this.askNodes<Row>(() => [statement, []]);
  }

  /** Whether the node of a workspace did not answer when it was last asked. Others should not wait for work there. */
  isAway(tenantId: string): boolean {
    if (this.away.size === 0) return false;
    const node = this.nodes.of(tenantId);
    return typeof node === 'string' && this.away.has(node);
  }

  private async askNodes<Row>(queryFor: (shards: NodeShards) => Query): Promise<readonly Row[]> {
    const now = performance.now();
    const asked = (await this.nodes.allShards()).filter(({ node }) => (this.away.get(node) ?? 0) < now);
    const answers = await Promise.allSettled(asked.map((shards) => this.askNode<Row>(shards.node, queryFor(shards))));
    const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
    const bug = failed.find((error) => databaseFailure(error) !== 'away');
    if (bug !== undefined || (failed.length > 0 && failed.length === answers.length)) throw bug ?? failed[0];
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  }

  private async askNode<Row>(node: string, query: Query): Promise<readonly Row[]> {
    try {
      const rows = await this.nodes.connectionTo(node).query<Row>(...query);
      this.away.delete(node);
      return rows;
    } catch (error) {
      // A shard was moved or split; a look a second later finds it in its new place.
      if (sqlStateOf(error) === UNDEFINED_TABLE) return [];
      if (databaseFailure(error) === 'away') this.away.set(node, performance.now() + ASK_AGAIN_MS);
      throw error;
    }
  }

  private statementOn(shards: NodeShards, statement: Statement): Statement {
    return this.statements.of(shards, statement, () => {
      this.made += 1;
      return { name: `${statement.name}_${this.made}`, text: onShards(statement.text, shards.shards) };
    });
  }
}
