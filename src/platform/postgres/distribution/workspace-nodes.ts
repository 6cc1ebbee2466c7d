import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../connection-settings';
import { PipelinedConnection } from '../pipelined-connection';
import type { ShardNames, WorkspaceShards } from '../shard-names';
import type { Statement } from '../statement';
import {
  FIND_PLACEMENTS,
  FIND_SHARD,
  FIND_SHARDS,
  shardsById,
  shardsByNode,
  urlOf,
  type NodeShards,
  type Placement,
  type Shard,
} from './shards';

/** A shard that was moved is used through its former node for so long, which hands the statements on. */
const PLACEMENTS_FRESH_MS = 1_000;
/** What was not found on a node is looked for there again after so long, should the coordinator still say that it is there. */
const GONE_MS = 5_000;
const WORKSPACES_REMEMBERED_MAX = 100_000;
const CONNECTION_OPTIONS = { applicationName: 'cds-nodes', lockTimeoutMs: 1_000, statementTimeoutMs: 1_000 };

/**
 * Which node of a distributed database holds the rows of a workspace, and in which shards. What it says may be old: every node
 * hands a statement on to the one that holds the rows, and who names a shard looks whether it is there. It is for speed, and so
 * that a node that does not answer delays its own workspaces only.
 */
@Injectable()
export class WorkspaceNodes implements BeforeApplicationShutdown {
  private readonly coordinator: PipelinedConnection;
  private readonly connections = new Map<string, PipelinedConnection>();
  /** Limited by `maxSize` with entries of size 1: `max` would allocate all the memory at the start. */
  private readonly shards = new LRUCache<string, string>({
    maxSize: WORKSPACES_REMEMBERED_MAX,
    sizeCalculation: () => 1,
  });
  /** The addresses of nodes, by shards. */
  private placements: ReadonlyMap<string, string> = new Map();
  /** What they were made from; tells whether anything has changed. */
  private read = '';
  private askedAt = -Infinity;
  private asking: Promise<void> | undefined;
  private nodeShards: readonly NodeShards[] = [];
  /** By the shards of the table that `shards` has. */
  private names: ReadonlyMap<string, ShardNames> = new Map();
  /** Shards that were not on a node where the coordinator said they were; until when they go by Citus, by the monotonic clock. */
  private readonly gone = new Map<string, number>();

  constructor(@Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings) {
    this.coordinator = new PipelinedConnection(settings, CONNECTION_OPTIONS);
  }

  /** The address of the node of a workspace; a promise only where the coordinator has to be asked. */
  of(tenantId: string): string | Promise<string> {
    this.refreshSoon();
    const shard = this.shards.get(tenantId);
    // A shard that was split is gone.
    return (shard === undefined ? undefined : this.placements.get(shard)) ?? this.lookUp(tenantId);
  }

  /** All shards of the tables of workspaces, by their nodes. */
  async allShards(): Promise<readonly NodeShards[]> {
    if (this.placements.size === 0) await this.refresh();
    else this.refreshSoon();
    return this.nodeShards;
  }

  /** The shards of a workspace, if they are known to be on this node. */
  shardsOn(node: string, tenantId: string): WorkspaceShards | undefined {
    const shard = this.shards.get(tenantId);
    if (shard === undefined || this.placements.get(shard) !== node) return undefined;
    const place = `${shard} ${node}`;
    if ((this.gone.get(place) ?? 0) > performance.now()) return undefined;
    const names = this.names.get(shard);
    return names === undefined ? undefined : { id: shard, names, onGone: () => this.noteGone(place) };
  }

  /** Runs a statement that may run twice on the node of a workspace. */
  async query<T>(tenantId: string, statement: Statement, values: readonly unknown[]): Promise<readonly T[]> {
    return this.connectionTo(await this.of(tenantId)).query<T>(statement, values);
  }

  /** A connection for statements by themselves, which Citus has nothing to do with. */
  connectionTo(node: string): PipelinedConnection {
    const known = this.connections.get(node);
    if (known !== undefined) return known;
    const opened = new PipelinedConnection({ url: node }, CONNECTION_OPTIONS);
    this.connections.set(node, opened);
    return opened;
  }

  async beforeApplicationShutdown(): Promise<void> {
    const connections = [this.coordinator, ...this.connections.values()];
    await Promise.all(connections.map((connection) => connection.close()));
  }

  private async lookUp(tenantId: string): Promise<string> {
    const [[found]] = await Promise.all([
      this.coordinator.query<{ shard: string }>(FIND_SHARD, [tenantId]),
      this.refresh(),
    ]);
    const node = this.placements.get(found?.shard ?? '');
    if (found === undefined || node === undefined) throw new Error('The shard of a workspace is on no node');
    this.shards.set(tenantId, found.shard);
    return node;
  }

  /** What is known stays known while the coordinator is away. */
  private refreshSoon(): void {
    if (performance.now() - this.askedAt > PLACEMENTS_FRESH_MS) this.refresh().catch(() => undefined);
  }

  private refresh(): Promise<void> {
    this.askedAt = performance.now();
    this.asking ??= this.readPlacements().finally(() => (this.asking = undefined));
    return this.asking;
  }

  private async readPlacements(): Promise<void> {
    const rows = await this.coordinator.query<Placement>(FIND_PLACEMENTS, []);
    const read = JSON.stringify(rows);
    if (read === this.read) return;
    const placements = new Map(rows.map((row) => [row.shard, urlOf(this.settings.url, row)]));
    this.nodeShards = shardsByNode(await this.coordinator.query<Shard>(FIND_SHARDS, []), placements);
    this.names = shardsById(this.nodeShards);
    this.placements = placements;
    this.read = read;
  }

  /** Reads names, too, which may have changed without the placements. */
  private noteGone(place: string): void {
    this.gone.set(place, performance.now() + GONE_MS);
    this.read = '';
    this.refresh().catch(() => undefined);
  }
}
